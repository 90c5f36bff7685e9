import { AppError } from './app-error.ts';

/** What happens where more is written off than there is, by the `account_type` of the access token. */
const deficits = { HOME: 'masked', OFFICE: 'refused' } as const;

/** The types of groups, as access tokens, the registration event and `GET /api/v1/groups/current` name them. */
export type StockAccountType = keyof typeof deficits;

/** A write-off from one batch. Both volumes are in the same unit; whole ones (g, ml, pieces) stay exact. */
export interface WriteOff {
  readonly accountType: StockAccountType;
  /** What the batch has; of a HOME group it may be below zero already. */
  readonly available: number;
  /** What is to be written off: 0 or more. */
  readonly requested: number;
  /** Stands in the refusal, for the user. */
  readonly unit?: string | undefined;
}

/** A write-off that may be done. */
export interface WriteOffDecision {
  /** What the batch has afterwards, to be stored. */
  readonly balance: number;
  /** What the screen shows of it: never less than 0. */
  readonly displayedBalance: number;
  /** To go with the success, see `notice`; undefined where there was enough. */
  readonly notice: 'INV_STOCK_MASKED_MINUS' | undefined;
}

/**
 * Decides what a write-off may do (specification, "What the service does"): a HOME group may go below zero, which its
 * screens mask; an OFFICE group may not.
 *
 * @example
 * const { balance, displayedBalance, notice: code } = decideWriteOff({ accountType: 'HOME', available: 2, requested: 5 });
 * // -3, 0, 'INV_STOCK_MASKED_MINUS'
 *
 * @throws {AppError} `INV_STOCK_INSUFFICIENT_OFFICE` where an OFFICE group has less than is requested.
 * @throws {TypeError} where the account type is none of the two, or a volume is no number that makes sense.
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
