import { AppError } from '@auth-account/errors';
import { fetchProviderKeys } from '@auth-account/tokens/provider-client';
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';

export interface ProviderKeysDeps {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Called for each answer with keys, with the time of {@link elapsed} from which they are overdue. */
  readonly onKeys: (cachedUntil: number) => void;
  /** Called for each attempt that fails. */
  readonly onError: (error: Error) => void;
  /** Returns milliseconds that only go forward. */
  readonly elapsed: () => number;
}

/** Finds keys, for `jwtVerify`. */
export interface ProviderKeys extends JWTVerifyGetKey {
  /**
   * Asks for the keys anew, because a signature is wrong: the provider may have replaced a key under its `kid`. Returns
   * true if there are newer keys, and false if the provider was asked too recently, or does not answer.
   */
  renew(): Promise<boolean>;
}

/** Keys that the provider has sent. */
interface Known {
  readonly find: JWTVerifyGetKey;
  readonly at: number;
  /** Time from which the provider is asked again. */
  readonly cachedUntil: number;
}

const secondMs = 1_000;
/** Time for which keys may be kept if the provider says nothing, and the limits of what it may say. */
const [usualMs, leastMs, maxMs] = [300 * secondMs, 60 * secondMs, 86_400 * secondMs];
/** Time for which outdated keys are used if the provider does not answer. */
const staleMs = 3_600 * secondMs;
/** Least time after an answer before an unknown key is a reason to ask again. */
const unknownGapMs = 30 * secondMs;
/** Least time after a failed attempt. */
const failedGapMs = 5 * secondMs;

/**
 * Finds a provider's keys, for `jwtVerify`. It asks the provider when a key is first needed, keeps the keys for as long
 * as the answer's headers say, and makes one request for any number of tokens with unknown keys. While the provider
 * does not answer, it uses the keys for an hour more.
 *
 * Raises jose's errors, and `ERR-DEPENDENCY-UNAVAILABLE` if it has no keys, or may not or cannot ask for an unknown one: the
 * provider may have published it since.
 */
export function createProviderKeys({ url, fetch, onKeys, onError, elapsed }: ProviderKeysDeps): ProviderKeys {
  let known: Known | undefined;
  let underWay: Promise<boolean> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<boolean> {
    try {
      const { keys, headers } = await fetchProviderKeys(url, fetch);
      const at = elapsed();
      known = { find: createLocalJWKSet(keys), at, cachedUntil: at + keptMsOf(headers) };
      onKeys(known.cachedUntil);
      return true;
    } catch (error) {
      failedAt = elapsed();
      onError(new Error(`${url}: ${(error as Error).message}`));
      return false;
    } finally {
      underWay = undefined;
    }
  }

  /** Asks the provider, unless it has just failed. Returns true if it has answered. */
  async function askOnce(): Promise<boolean> {
    if (underWay === undefined && elapsed() - failedAt < failedGapMs) return false;
    underWay ??= ask();
    return underWay;
  }

  /** Returns the keys that count, and asks for them if they are outdated. */
  async function current(): Promise<Known> {
    if (known === undefined || elapsed() >= known.cachedUntil) await askOnce();
    if (known === undefined || elapsed() >= known.cachedUntil + staleMs) throw unavailable(failedGapMs);
    return known;
  }

  /** Asks for the keys because these lack one, unless they were fetched too recently. */
  async function newerThan({ at }: Known): Promise<Known> {
    const waitMs = at + unknownGapMs - elapsed();
    if (underWay === undefined && waitMs > 0) throw unavailable(waitMs);
    if (!(await askOnce())) throw unavailable(failedGapMs);
    return current();
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    const before = known;
    const keys = await current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      // If this token has waited for keys, they are the newest there are.
      if (!(error instanceof errors.JWKSNoMatchingKey) || keys !== before) throw error;
      return (await newerThan(keys)).find(header, token);
    }
  };

  return Object.assign(find, {
    async renew() {
      const isDue = known !== undefined && elapsed() - known.at >= unknownGapMs;
      return (underWay !== undefined || isDue) && askOnce();
    },
  });
}

function unavailable(waitMs: number): AppError {
  return new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: waitMs / secondMs });
}

/** Returns the time for which an answer may be kept, by `Cache-Control` and `Age`. */
function keptMsOf(headers: Headers): number {
  const control = headers.get('Cache-Control') ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return leastMs;
  const [, seconds] = /\bmax-age=(\d+)/i.exec(control) ?? [];
  if (seconds === undefined) return usualMs;
  const age = Number(headers.get('Age') ?? 0) || 0;
  return Math.min(maxMs, Math.max(leastMs, (Number(seconds) - age) * secondMs));
}
