/**
 * The reasons for which a request is refused: too many tries from its address, too many invites or moves made by its account, too many
 * failures for this account from this device or address, or too many for this account from devices and addresses that it
 * does not know.
 */
export const limitRules = [
  'register_address',
  'refresh_address',
  'invite_address',
  'invite_account',
  'move_account',
  'login_address',
  'login_source',
  'login_account',
  'login_account_day',
] as const;
export type LimitRule = (typeof limitRules)[number];

/** One limit that has been reached. */
export interface Refusal {
  readonly rule: LimitRule;
  /** Milliseconds until a new try makes sense. */
  readonly waitMs: number;
}
