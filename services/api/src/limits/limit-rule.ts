/**
 * Why a request was refused: too many tries from its address, too many failures for this account from this device or
 * address, or too many for this account from devices and addresses that it does not know.
 */
export type LimitRule =
  | 'register_address'
  | 'refresh_address'
  | 'login_address'
  | 'login_source'
  | 'login_account'
  | 'login_account_day';

/** One limit that has been reached. */
export interface Refusal {
  readonly rule: LimitRule;
  /** Milliseconds until a new try makes sense. */
  readonly waitMs: number;
}
