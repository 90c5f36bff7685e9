import { importPublicKeys, type KeySet, parseKeySet } from '../access-token/index.ts';
import { fetchDocument } from './fetch-document.ts';
import { type IssuerMetadata, readMetadata } from './read-metadata.ts';

/** The issuer's metadata and keys. An object never changes; newer data are in a new object. */
export interface Issuer {
  readonly metadata: IssuerMetadata;
  readonly keys: KeySet;
}

export interface IssuerSource {
  /** Returns the known data. If they are old, it also asks again in the background. Rejects if nothing is known. */
  get(): Promise<Issuer>;
  /** Returns the known data, or undefined if there are none or they are too old. */
  current(): Issuer | undefined;
  /** Asks again now, unless it asked a moment ago. It never fails. */
  reread(): Promise<void>;
  /** Returns the seconds since the issuer last answered, or undefined if it never did. */
  ageSeconds(): number | undefined;
}

export interface IssuerSourceOptions {
  readonly issuer: string;
  /** URL at which the issuer is reached, if it differs from `issuer`. */
  readonly reachedAt?: string | undefined;
  /** Time in which a stale answer is still used if the issuer does not answer, in seconds. */
  readonly staleKeysSeconds: number;
  readonly fetch?: typeof fetch | undefined;
  /** Returns the text of the key set, which is then not fetched from the issuer. */
  readonly readKeys?: (() => string | Promise<string>) | undefined;
  /** Called for each attempt that fails. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Returns milliseconds that only go forward. */
  readonly elapsed?: (() => number) | undefined;
}

/** Time after which the issuer is asked again, in milliseconds. Its answers may be cached for that long. */
const freshMs = 300_000;
/**
 * Minimum time between two attempts, in milliseconds. Otherwise each token with an unknown key would cause a request.
 */
const gapMs = 1_000;
const timeoutMs = 2_000;

/** Creates the source of the issuer's metadata and keys. It asks the issuer only when they are first needed. */
export function createIssuerSource(options: IssuerSourceOptions): IssuerSource {
  const { issuer, reachedAt, staleKeysSeconds, onError, elapsed = () => performance.now() } = options;
  const base = issuerAddress(issuer, reachedAt);
  const fetching = { fetch: options.fetch ?? fetch, timeoutMs };
  let known: { readonly issuer: Issuer; readonly at: number } | undefined;
  let attempt: { readonly at: number; readonly done: Promise<void>; isUnderWay: boolean } | undefined;
  let lastError: Error | undefined;

  async function ask(): Promise<void> {
    const at = elapsed();
    try {
      // The path of OpenID Connect comes after the issuer's own path, if it has one. That of RFC 8414 comes before it
      // (section 3.1), so a proxy that forwards only the issuer's path would not forward it.
      const url = `${base}/.well-known/openid-configuration`;
      const metadata = await named(url, fetchDocument(url, fetching), (text) => readMetadata(text, issuer));
      const next: Issuer = { metadata, keys: await askKeys(metadata) };
      const isSame = known !== undefined && JSON.stringify(known.issuer) === JSON.stringify(next);
      known = { issuer: isSame && known ? known.issuer : next, at };
      lastError = undefined;
    } catch (error) {
      lastError = error as Error;
      onError?.(lastError);
    }
  }

  async function askKeys({ jwksUri }: IssuerMetadata): Promise<KeySet> {
    if (options.readKeys !== undefined) return parseKeys(await options.readKeys(), 'readKeys');
    const url = reachedAt === undefined ? jwksUri : moved(jwksUri, issuer, base);
    return named(url, fetchDocument(url, fetching), (text) => parseKeys(text, url));
  }

  /** Starts and returns an attempt. If an attempt is under way or began a moment ago, returns that attempt instead. */
  function askOnce(): Promise<void> {
    if (attempt?.isUnderWay || (attempt && elapsed() - attempt.at < gapMs)) return attempt.done;
    const next = { at: elapsed(), isUnderWay: true, done: ask() };
    attempt = next;
    // It never rejects.
    void next.done.then(() => {
      next.isUnderWay = false;
    });
    return next.done;
  }

  function current(): Issuer | undefined {
    if (known === undefined || elapsed() - known.at > freshMs + staleKeysSeconds * 1_000) return undefined;
    return known.issuer;
  }

  return {
    current,
    reread: askOnce,
    async get() {
      const found = current();
      if (found !== undefined && known !== undefined) {
        // `askOnce` never fails. The caller goes on with the known data.
        if (elapsed() - known.at > freshMs) void askOnce();
        return found;
      }
      await askOnce();
      const asked = current();
      if (asked === undefined) throw lastError ?? new Error(`${issuer} did not answer`);
      return asked;
    },
    ageSeconds: () => (known === undefined ? undefined : (elapsed() - known.at) / 1_000),
  };
}

async function named<T>(url: string, text: Promise<string>, read: (text: string) => T): Promise<T> {
  const content = await text;
  try {
    return read(content);
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

function parseKeys(text: string, origin: string): KeySet {
  const keys = parseKeySet(text, origin);
  importPublicKeys(keys);
  return keys;
}

/**
 * Returns the URL of the issuer, without a slash at its end. Throws if keys from there can't be trusted. Plain HTTP is
 * trusted only from this host, or from the URL in `reachedAt`.
 */
export function issuerAddress(issuer: string, reachedAt: string | undefined): string {
  const { protocol, hostname } = new URL(issuer);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (reachedAt === undefined && protocol !== 'https:' && !isLocal) {
    throw new TypeError(`${issuer}: keys are fetched over https, or from the URL given as reachedAt`);
  }
  return withoutSlash(reachedAt ?? issuer);
}

/** Returns the URL of the keys, moved to the URL at which the issuer is reached. */
function moved(jwksUri: string, issuer: string, base: string): string {
  const own = withoutSlash(issuer);
  if (!jwksUri.startsWith(`${own}/`)) throw new Error(`${jwksUri} is not at the issuer`);
  return base + jwksUri.slice(own.length);
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
