import { AppError } from '@auth-account/errors';
import {
  type AccessTokenAlgorithm,
  createCachedVerifier,
  createKeyFinder,
  type FindKey,
  type VerifiedAccessToken,
  type VerifyAccessToken,
} from './access-token/index.ts';
import { readBearer } from './access-token/read-bearer.ts';
import { createIssuerSource, type Issuer, type IssuerSource, issuerAddress } from './issuer/issuer-source.ts';
import { longestLife } from './issuer/read-metadata.ts';
import { createRevocationList } from './revocations/revocation-list.ts';
import type { OpenRevocationSource, RevocationSource, SourceContext } from './revocations/revocation-source.ts';

export interface VerifierOptions {
  /** `TOKEN_ISSUER` of the service. Its metadata is fetched from there. */
  readonly issuer: string;
  /** `TOKEN_AUDIENCE` of the service. */
  readonly audience: string;
  /**
   * Where to learn which tokens are revoked: `redisRevocations()`, or `feedRevocations()` over HTTP. With `none` a
   * revoked token is accepted until it expires, ten minutes later as a rule.
   */
  readonly revocations: RevocationSource | OpenRevocationSource | 'none';
  /** Address under which the issuer is reached, if not its own, such as a Service of the cluster. */
  readonly reachedAt?: string;
  /**
   * Returns the text of the public key set (a mounted file, as `authctl keys public` writes it), in place of a fetch.
   * Whoever took over the issuer's TLS could give out keys of their own.
   */
  readonly readKeys?: () => string | Promise<string>;
  /**
   * Seconds for which tokens are accepted by the last known revocations after their source has stopped answering.
   * After that every token gets `ERR-DEPENDENCY-UNAVAILABLE` (503). Default 10; Infinity never refuses.
   */
  readonly graceSeconds?: number;
  /** Seconds for which the last known keys are used if the issuer does not answer. Default 3,600. */
  readonly staleKeysSeconds?: number;
  /** Milliseconds between two questions to the source of revocations. Default 250. */
  readonly pollMs?: number;
  /** Number of verified tokens to remember, about 500 bytes each. Default 5,000; 0 for none. */
  readonly cacheEntries?: number;
  /** Called for what is worth a line in the log; it never has a token. */
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
   * Verifies the token: signature, claims, expiry, revocation, as the service itself does. Throws an `AppError`:
   * `IAD_JWT_ACCESS_INVALID`, `IAD_JWT_ACCESS_EXPIRED`, or `ERR-DEPENDENCY-UNAVAILABLE` if it can't be known.
   */
  verify(token: string): Promise<VerifiedAccessToken>;
  /** As `verify`, of the value of an `Authorization` header. */
  authenticate(authorization: string | undefined): Promise<VerifiedAccessToken>;
  /** Rejects with `ERR-DEPENDENCY-UNAVAILABLE` if no token could be verified now: for a readiness probe. */
  ready(): Promise<void>;
  /** Figures for metrics: ages in seconds, undefined if there was no answer yet. */
  state(): VerifierState;
  /** Ends its connections and timers. */
  close(): void;
}

export interface VerifierState {
  readonly keysAgeSeconds: number | undefined;
  readonly revocationsAgeSeconds: number | undefined;
  /** Number of denials in memory. */
  readonly denials: number;
}

/** Seconds beyond a token's longest life for which a denial is kept: twice the leeway of clocks, and a margin. */
const keepMargin = 70;

/**
 * Creates a verifier of access tokens. It starts to read revocations at once, and asks the issuer when the first token
 * comes.
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
  const { staleKeysSeconds = 3_600, onReport } = options;
  assertSeconds('graceSeconds', options.graceSeconds);
  assertSeconds('staleKeysSeconds', options.staleKeysSeconds);
  const source = createIssuerSource({
    ...options,
    staleKeysSeconds,
    onError: (error) => onReport?.({ kind: 'issuer-failed', error }),
  });
  const verifierOf = createVerifiers(options, source);
  const list = openList(options, source);

  async function verify(token: string): Promise<VerifiedAccessToken> {
    const check = await verifierOf(await findIssuer());
    const verified = await check(token);
    if (list === undefined) return verified;
    await list.started;
    if (list.isDenied(verified.sid, verified.ver)) throw new AppError('IAD_JWT_ACCESS_INVALID');
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
    authenticate: async (authorization) => verify(readBearer(authorization)),
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

/** Returns the check of signature, claims and expiry. Newer metadata make another one. */
function createVerifiers(options: VerifierOptions, source: ReturnType<typeof createIssuerSource>) {
  const { issuer, audience, cacheEntries = 5_000, now = Date.now } = options;
  let last: { readonly metadata: string; readonly check: Promise<VerifyAccessToken> } | undefined;
  return (known: Issuer): Promise<VerifyAccessToken> => {
    const { algorithm, ttlSeconds } = known.metadata;
    const metadata = `${algorithm} ${ttlSeconds}`;
    if (last?.metadata !== metadata) {
      // What is known can become too old between two questions; this call still goes on with it.
      const keys = { current: () => (source.current() ?? known).keys, reread: source.reread };
      const settings = { issuer, audience, algorithm, ttlSeconds, now, keys };
      last = { metadata, check: createCachedVerifier({ ...settings, maxEntries: cacheEntries }) };
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
 * Returns for how many seconds a denial is needed. It never shrinks: nobody sends a denial again that was forgotten too
 * early. Metadata are not signed, so whoever is trusted for no keys is not asked how long they matter either.
 */
function createKeepSeconds({ readKeys }: VerifierOptions, issuer: IssuerSource): () => number {
  let longestSeen: number | undefined;
  return () => {
    const { ttlSeconds } = issuer.current()?.metadata ?? {};
    if (ttlSeconds !== undefined) longestSeen = Math.max(longestSeen ?? 0, ttlSeconds);
    return (readKeys === undefined ? (longestSeen ?? longestLife) : longestLife) + keepMargin;
  };
}

function contextOf(options: VerifierOptions, source: IssuerSource): SourceContext {
  let last: { readonly algorithm: AccessTokenAlgorithm; readonly findKey: FindKey } | undefined;
  return {
    issuer: options.issuer,
    address: issuerAddress(options.issuer, options.reachedAt),
    fetch: options.fetch ?? fetch,
    async signatures() {
      const known = await source.get();
      const { algorithm } = known.metadata;
      const keys = { current: () => (source.current() ?? known).keys, reread: source.reread };
      if (last?.algorithm !== algorithm) last = { algorithm, findKey: createKeyFinder(keys, algorithm) };
      return last;
    },
  };
}

function assertSeconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(value >= 0)) throw new TypeError(`${name} must be a number of seconds`);
}
