import { AppError } from '@auth-account/errors';
import {
  createCachedVerifier,
  createKeyFinder,
  type FindKey,
  type VerifiedAccessToken,
  type VerifyAccessToken,
} from './access-token/index.ts';
import { readBearer } from './access-token/read-bearer.ts';
import { createIssuerSource, type Issuer, type IssuerSource, issuerAddress } from './issuer/issuer-source.ts';
import { maxLife } from './issuer/read-metadata.ts';
import { assertMeets, type Requirements } from './requirements.ts';
import { createRevocationList } from './revocations/revocation-list.ts';
import type { OpenRevocationSource, RevocationSource, SourceContext } from './revocations/revocation-source.ts';

export interface VerifierOptions {
  /** `TOKEN_ISSUER` of the service. Its metadata is fetched from there. */
  readonly issuer: string;
  /** `TOKEN_AUDIENCE` of the service. */
  readonly audience: string;
  /**
   * Source of the revocations: `redisRevocations()`, or `feedRevocations()` over HTTP. With `none`, a revoked token is
   * accepted until it expires, usually up to ten minutes later.
   */
  readonly revocations: RevocationSource | OpenRevocationSource | 'none';
  /** URL at which the issuer is reached, such as a Service of the cluster, if it differs from `issuer`. */
  readonly reachedAt?: string;
  /**
   * Returns the text of the public key set, for example from a mounted file written by `authctl keys public`. Without
   * it the keys are fetched, so an attacker who takes over the issuer's TLS can supply other keys.
   */
  readonly readKeys?: () => string | Promise<string>;
  /**
   * Time in which tokens are checked against the last known revocations after their source has stopped answering, in
   * seconds. After that, every token gets `ERR-DEPENDENCY-UNAVAILABLE` (503). The default is 10. With Infinity, the
   * last known revocations are used without limit.
   */
  readonly graceSeconds?: number;
  /** Time in which the last known keys are used if the issuer does not answer, in seconds. The default is 3,600. */
  readonly staleKeysSeconds?: number;
  /** Pause between two requests to the source of revocations, in milliseconds. The default is 250. */
  readonly pollMs?: number;
  /** Number of verified tokens to remember, at about 550 bytes each. The default is 5,000. 0 turns the memory off. */
  readonly cacheEntries?: number;
  /** Called for events that should be logged. A report never contains a token. */
  readonly onReport?: (report: VerifierReport) => void;
  /** For tests: replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** For tests: returns milliseconds since the epoch. */
  readonly now?: () => number;
  /** For tests: returns milliseconds that only go forward. */
  readonly elapsed?: () => number;
}

export type VerifierReport =
  | { readonly kind: 'issuer-failed'; readonly error: Error }
  | { readonly kind: 'revocations-away'; readonly error: Error | undefined }
  | { readonly kind: 'revocations-back'; readonly error?: undefined };

export interface Verifier {
  /**
   * Verifies the token's signature, claims, expiry and revocation, the same as the service itself. Throws an
   * `AppError`: `IAD_JWT_ACCESS_INVALID`, `IAD_JWT_ACCESS_EXPIRED`, `ERR-DEPENDENCY-UNAVAILABLE` if the token can't be
   * checked now, or `ERR-STEP-UP-REQUIRED` (401) if a good token falls short of the requirements of this call.
   *
   * @example
   * await verifier.verify(token, { maxAge: 300, acr: '2' });
   */
  verify(token: string, requirements?: Requirements): Promise<VerifiedAccessToken>;
  /** Verifies the token in the value of an `Authorization` header. */
  authenticate(authorization: string | undefined, requirements?: Requirements): Promise<VerifiedAccessToken>;
  /** Rejects with `ERR-DEPENDENCY-UNAVAILABLE` if no token could be verified now. It is meant for a readiness probe. */
  ready(): Promise<void>;
  /** Returns figures for metrics. Ages are in seconds, and undefined if there was no answer yet. */
  state(): VerifierState;
  /** Ends the connections and timers. */
  close(): void;
}

export interface VerifierState {
  readonly keysAgeSeconds: number | undefined;
  readonly revocationsAgeSeconds: number | undefined;
  /** Number of denials in memory. */
  readonly denials: number;
}

/** Seconds that a denial is kept after a token's maximum life: twice the leeway of clocks, and a margin. */
const keepMargin = 70;

/**
 * Creates a verifier of access tokens. It starts to read revocations at once, and fetches the issuer's keys when the
 * first token comes.
 *
 * @example
 * const verifier = createVerifier({
 *   issuer: 'https://auth.example.com',
 *   audience: 'food-storage',
 *   revocations: redisRevocations({ REDIS_URL, KEY_PREFIX: 'auth' }),
 * });
 * const { user_id, home_group_id } = await verifier.authenticate(request.headers.authorization);
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { staleKeysSeconds = 3_600, now = Date.now, onReport } = options;
  assertSeconds('graceSeconds', options.graceSeconds);
  assertSeconds('staleKeysSeconds', options.staleKeysSeconds);
  const source = createIssuerSource({
    ...options,
    staleKeysSeconds,
    onError: (error) => onReport?.({ kind: 'issuer-failed', error }),
  });
  const verifierOf = createVerifiers(options, source);
  const list = openList(options, source);

  async function verify(token: string, requirements?: Requirements): Promise<VerifiedAccessToken> {
    const check = await verifierOf(await findIssuer());
    const verified = await check(token);
    if (list !== undefined) {
      await list.started;
      if (list.isDenied(verified.sid, verified.ver)) throw new AppError('IAD_JWT_ACCESS_INVALID');
    }
    if (requirements !== undefined) assertMeets(verified, requirements, now());
    return verified;
  }

  async function findIssuer(): Promise<Issuer> {
    try {
      return await source.get();
    } catch (error) {
      throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { cause: error });
    }
  }

  return {
    verify,
    authenticate: async (authorization, requirements) => verify(readBearer(authorization), requirements),
    async ready() {
      await findIssuer();
      await list?.started;
      list?.isDenied('', 0);
    },
    state: () => ({
      keysAgeSeconds: source.ageSeconds(),
      revocationsAgeSeconds: list?.ageSeconds(),
      denials: list?.size() ?? 0,
    }),
    close: () => list?.close(),
  };
}

/**
 * Returns a function that returns the check of signature, claims and expiry. It creates a new check after a change of
 * the tokens' longest life.
 */
function createVerifiers(options: VerifierOptions, source: ReturnType<typeof createIssuerSource>) {
  const { issuer, audience, cacheEntries = 5_000, now = Date.now } = options;
  let last: { readonly ttlSeconds: number; readonly check: Promise<VerifyAccessToken> } | undefined;
  return (known: Issuer): Promise<VerifyAccessToken> => {
    const { ttlSeconds } = known.metadata;
    if (last?.ttlSeconds !== ttlSeconds) {
      // If the issuer's data became too old a moment ago, this call still uses them.
      const keys = { current: () => (source.current() ?? known).keys, reread: source.reread };
      const settings = { issuer, audience, ttlSeconds, now, keys };
      last = { ttlSeconds, check: createCachedVerifier({ ...settings, maxEntries: cacheEntries }) };
    }
    return last.check;
  };
}

function openList(options: VerifierOptions, issuer: IssuerSource) {
  const { revocations, graceSeconds = 10, pollMs = 250, onReport, elapsed } = options;
  if (revocations === 'none') return;
  return createRevocationList({
    source: typeof revocations === 'function' ? revocations(contextOf(options, issuer)) : revocations,
    graceSeconds,
    pollMs,
    elapsed,
    keepSeconds: createKeepSeconds(options, issuer),
    onChange(isAnswering, error) {
      onReport?.(isAnswering ? { kind: 'revocations-back' } : { kind: 'revocations-away', error });
    },
  });
}

/**
 * Returns for how many seconds a denial is needed. The number never shrinks, because a denial that was forgotten too
 * early is not sent again. With `readKeys`, unsigned answers of the issuer are not trusted for the keys. They are not
 * trusted for this number either.
 */
function createKeepSeconds({ readKeys }: VerifierOptions, issuer: IssuerSource): () => number {
  let maxSeen: number | undefined;
  return () => {
    const { ttlSeconds } = issuer.current()?.metadata ?? {};
    if (ttlSeconds !== undefined) maxSeen = Math.max(maxSeen ?? 0, ttlSeconds);
    return (readKeys === undefined ? (maxSeen ?? maxLife) : maxLife) + keepMargin;
  };
}

function contextOf(options: VerifierOptions, source: IssuerSource): SourceContext {
  let findKey: FindKey | undefined;
  return {
    issuer: options.issuer,
    address: issuerAddress(options.issuer, options.reachedAt),
    fetch: options.fetch ?? fetch,
    async issuerKeys() {
      const known = await source.get();
      findKey ??= createKeyFinder({ current: () => (source.current() ?? known).keys, reread: source.reread });
      return findKey;
    },
  };
}

function assertSeconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(value >= 0)) throw new TypeError(`${name} must be a number of seconds`);
}
