import { AppError } from './app-error.ts';

/** Treatment of a deficit, for each `account_type` of the access token. */
const deficits = { HOME: 'masked', OFFICE: 'refused' } as const;

/** The types of groups, as access tokens, the registration event and `GET /api/v1/groups/current` name them. */
export type StockAccountType = keyof typeof deficits;

/** A write-off from one batch. Both volumes have the same unit. Whole numbers (g, ml, pieces) stay exact. */
export interface WriteOff {
  readonly accountType: StockAccountType;
  /** Volume in the batch. In a HOME group it may already be negative. */
  readonly available: number;
  /** Volume to write off: 0 or more. */
  readonly requested: number;
  /** Unit, which the refusal names for the user. */
  readonly unit?: string | undefined;
}

/** A write-off that is allowed. */
export interface WriteOffDecision {
  /** Volume in the batch afterwards, to be stored. */
  readonly balance: number;
  /** Balance that the screen shows: never less than 0. */
  readonly displayedBalance: number;
  /** Notice to send with the successful answer (see `notice`); undefined if the batch had enough. */
  readonly notice: 'INV_STOCK_MASKED_MINUS' | undefined;
}

/**
 * Decides whether a write-off is allowed, and returns its result (docs/specification/groups-and-invites.md, "Groups").
 * The balance of a HOME group may go below zero, but its screens show zero. The balance of an OFFICE group may not go
 * below zero.
 *
 * @example
 * const { balance, displayedBalance, notice: code } = decideWriteOff({ accountType: 'HOME', available: 2, requested: 5 });
 * // -3, 0, 'INV_STOCK_MASKED_MINUS'
 *
 * @throws {AppError} `INV_STOCK_INSUFFICIENT_OFFICE` if an OFFICE group has less than is requested.
 * @throws {TypeError} if the account type is neither of the two, or a volume is not a valid number.
 */
export function decideWriteOff({ accountType, available, requested, unit }: WriteOff): WriteOffDecision {
  if (!Object.hasOwn(deficits, accountType)) throw new TypeError('A write-off needs an account type: HOME or OFFICE');
  if (!Number.isFinite(available) || !Number.isFinite(requested) || requested < 0) {
    throw new TypeError('A write-off needs finite volumes, and a requested one of 0 or more');
  }
  const balance = available - requested;
  const isShort = available < requested;
  if (isShort && deficits[accountType] === 'refused') {
    throw new AppError('INV_STOCK_INSUFFICIENT_OFFICE', {
      details: { available, ...(unit === undefined ? {} : { unit }) },
    });
  }
  return {
    balance,
    displayedBalance: Math.max(0, balance),
    notice: isShort ? 'INV_STOCK_MASKED_MINUS' : undefined,
  };
}
