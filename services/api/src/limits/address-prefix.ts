import type { PrefixLength } from '@auth-account/telemetry';

export { addressPrefix } from '@auth-account/telemetry';

/** What one subscriber's line has, as a rule: an IPv4 address, or a /64 with as many addresses as he likes. */
export const subscriberPrefix: PrefixLength = { v4: 32, v6: 64 };

/**
 * What a home or an office is given, as a rule (RFC 6177): an IPv4 address, or a /56, which is 256 of the networks above.
 * Used if one line must not be able to take everything, even if neighbours then share one share.
 */
export const sitePrefix: PrefixLength = { v4: 32, v6: 56 };
