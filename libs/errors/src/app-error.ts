import type { CatalogueRow } from './catalogue/row.ts';
import { type CatalogueCode, isCatalogueCode, isThrowableCode, rowOf, type ThrowableCode } from './catalogue.ts';
import type { DetailsOf, RequiresDetails, StatusOf } from './error-details.ts';

/** Symbol from the global registry, so that two copies of this package recognise each other's errors. */
const brand = Symbol.for('auth-account.errors.AppError');

interface CommonOptions<C extends ThrowableCode> {
  /** Catalogue code that this endpoint code stands for, if the endpoint code's row does not name one. */
  canonical?: CatalogueCode | undefined;
  /** One of the statuses that the row allows. Two codes have two: ERR-INVITE-TOKEN-INVALID and ERR-STEP-UP-REQUIRED. */
  status?: StatusOf<C> | undefined;
  /** Further response headers, for example `Allow`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Seconds until a new try makes sense. The value is rounded up, to at least 1. */
  retryAfterSeconds?: number | undefined;
  /** For logs only; never part of an answer. */
  cause?: unknown;
}

export type AppErrorOptions<C extends ThrowableCode> = CommonOptions<C> &
  (RequiresDetails<C> extends true ? { details: DetailsOf<C> } : { details?: DetailsOf<C> | undefined });

type AppErrorArguments<C extends ThrowableCode> =
  RequiresDetails<C> extends true ? [options: AppErrorOptions<C>] : [options?: AppErrorOptions<C>];

/**
 * An error of the catalogue. `message` (code and meaning) is for logs. Users see the text of their locale, which
 * `toHttp` and `toGrpc` add.
 *
 * @example
 * throw new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email: email } });
 * throw new AppError('ERR-INVITE-TOKEN-INVALID', {
 *   status: 410,
 *   canonical: 'IAD_GROUP_INVITE_EXPIRED',
 *   details: { provided_token: token },
 * });
 *
 * @throws {TypeError} if the code is not throwable, its row lacks the status, or the catalogue lacks the canonical code.
 */
export class AppError<C extends ThrowableCode = ThrowableCode> extends Error {
  readonly code: C;
  readonly details: DetailsOf<C>;
  /**
   * The canonical code: the code itself, or the catalogue code that an endpoint code stands for. Undefined for an
   * endpoint code that stands for none.
   */
  readonly canonical: CatalogueCode | undefined;
  readonly status: number;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: C, ...[options]: AppErrorArguments<C>) {
    if (!isThrowableCode(code)) throw new TypeError('An AppError needs a throwable code of the catalogue');
    const row = rowOf(code);
    super(`${code}: ${row.meaning}`, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options?.details ?? (emptyDetails(row) as DetailsOf<C>);
    this.canonical = canonicalOf(code, row, options?.canonical);
    this.status = statusOf(row, options?.status);
    this.retryAfterSeconds = wholeSeconds(options?.retryAfterSeconds ?? row.retryAfterSeconds);
    this.headers = options?.headers ?? {};
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Returns true if the value is an AppError, even if another copy of this package created it. */
export function isAppError(value: unknown): value is AppError {
  return value instanceof Error && brand in value && isThrowableCode((value as { code?: unknown }).code);
}

function emptyDetails(row: CatalogueRow): unknown {
  return row.details === 'validation-items' ? [] : {};
}

function canonicalOf(code: ThrowableCode, row: CatalogueRow, given: CatalogueCode | undefined) {
  const canonical = isCatalogueCode(code) ? code : (given ?? row.canonical);
  if (canonical === undefined || isCatalogueCode(canonical)) return canonical;
  throw new TypeError(`${code} cannot stand for a code that is not in the catalogue`);
}

function statusOf(row: CatalogueRow, given: number | undefined): number {
  if (given === undefined || given === row.http || row.httpAlternatives?.includes(given)) return given ?? row.http;
  throw new TypeError(`The row allows no status ${given}`);
}

function wholeSeconds(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : 1;
}
