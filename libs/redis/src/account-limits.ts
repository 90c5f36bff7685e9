/**
 * Limits for the wrong verdicts on an account's password, or on its second factor, until its owner's next right one from
 * a device that holds something, or a recovery: those of everybody together, and those that each such device, each of
 * their sessions and each of their networks has besides. So a thief of one device, at the owner's network, has a hundred
 * in all (NIST SP 800-63B-4, section 3.2.2).
 */
export const sharedTotal = 70;
export const ownTotal = 10;

/** Limits for the tries of a second factor of one device or network, or of all unknown ones. */
export const factorTryLimits = {
  perWindow: 5,
  windowMs: 15 * 60_000,
  /** Limit of NIST SP 800-63B-4, section 3.2.2, in a day. */
  perDay: 100,
} as const;
