import { readText } from '@auth-account/verifier/fetch-document';
import { createLocalJWKSet, decodeJwt, importPKCS8, type JSONWebKeySet, SignJWT } from 'jose';

/** A provider's endpoints, and the key by which this service proves itself there. */
export interface ProviderClientSettings {
  readonly tokenUrl: string;
  readonly revocationUrl: string;
  /** The provider's name in that proof. */
  readonly audience: string;
  readonly teamId: string;
  readonly keyId: string;
  /** PEM, of a key on P-256. */
  readonly privateKey: string;
  /** By client id. A code that was sent to a page counts only with the page's URL (RFC 6749, section 4.1.3). */
  readonly redirectUris: Readonly<Record<string, string>>;
}

export interface ProviderClientDeps {
  readonly fetch: typeof fetch;
  readonly now: () => Date;
}

/** The answer to a code. */
export interface ExchangedCode {
  readonly refreshToken: string;
  /** The person whose token it is; undefined if the answer does not say so. */
  readonly sub: string | undefined;
}

/** Asks a provider of OpenID Connect for refresh tokens, and revokes them. */
export interface ProviderClient {
  /**
   * Exchanges an authorization code for a refresh token. Throws an error with a `fault` ({@link RefusalFault}) if the
   * provider refuses it, and another error if the provider does not answer in 3 s.
   */
  exchange(code: string, clientId: string): Promise<ExchangedCode>;
  /**
   * Revokes a refresh token (RFC 7009). A token that does not count any more is revoked too. Throws the same errors.
   */
  revoke(refreshToken: string, clientId: string): Promise<void>;
}

/**
 * Faults for which a provider refuses a request: `wrong_client` is this service's own proof, `wrong_page` the page to which
 * a code was sent, `no_token` an answer without a refresh token, and `other_app` one for another client.
 */
export type RefusalFault = 'wrong_code' | 'wrong_client' | 'wrong_page' | 'no_token' | 'other_app';

/** A refusal by the provider. The message is its error code, and nothing of the request. */
class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly fault: RefusalFault;

  constructor(fault: RefusalFault, message: string = fault) {
    super(message);
    this.fault = fault;
  }
}

const timeoutMs = 3_000;
const maximumBytes = 64 * 1_024;
const maximumKeyBytes = 256 * 1_024;
/** Life of the proof of this service. Apple allows six months. */
const secretSeconds = 300;

/**
 * Creates the client of a provider. This service proves itself with a JWT by ES256 as its secret, as Apple asks
 * (https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret).
 */
export function createProviderClient(settings: ProviderClientSettings, { fetch, now }: ProviderClientDeps) {
  const { tokenUrl, revocationUrl, audience, teamId, keyId, privateKey, redirectUris } = settings;

  async function secretFor(clientId: string): Promise<string> {
    const at = Math.floor(now().getTime() / 1_000);
    return new SignJWT({ iss: teamId, sub: clientId, aud: audience, iat: at, exp: at + secretSeconds })
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .sign(await importPKCS8(privateKey, 'ES256'));
  }

  async function post(url: string, clientId: string, fields: Readonly<Record<string, string>>): Promise<string> {
    const body = new URLSearchParams({ client_id: clientId, client_secret: await secretFor(clientId), ...fields });
    const headers = { Accept: 'application/json' };
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
    const text = await readText(answer, { maximumBytes, signal });
    if (answer.status === 200) return text;
    if (answer.status === 400 || answer.status === 401) throw refusalOf(answer.status, parse(text));
    throw new Error(`${url}: status ${answer.status}`);
  }

  return {
    async exchange(code, clientId) {
      const redirect_uri = redirectUris[clientId];
      const sentTo = redirect_uri === undefined ? {} : { redirect_uri };
      const text = await post(tokenUrl, clientId, { grant_type: 'authorization_code', code, ...sentTo });
      const { refresh_token: refreshToken, id_token: idToken } = parse(text);
      if (typeof refreshToken !== 'string' || refreshToken === '') throw new ProviderRefusal('no_token');
      return { refreshToken, sub: typeof idToken === 'string' ? subOf(idToken, clientId) : undefined };
    },
    async revoke(token, clientId) {
      try {
        await post(revocationUrl, clientId, { token, token_type_hint: 'refresh_token' });
      } catch (error) {
        if (!(error instanceof ProviderRefusal && isUnusable(error.message))) throw error;
      }
    },
  } satisfies ProviderClient;
}

/**
 * Returns the person whom an ID token names. The provider itself has sent it, so its signature need not be checked
 * (OpenID Connect Core, section 3.1.3.7).
 */
function subOf(idToken: string, clientId: string): string | undefined {
  const { sub, aud } = decodeJwt(idToken);
  if (![aud].flat().includes(clientId)) throw new ProviderRefusal('other_app');
  return sub;
}

/** Returns true if the error says that the token does not count. */
function isUnusable(error: string): boolean {
  return error === 'invalid_grant' || error === 'invalid_token';
}

/** Returns the refusal with the error code of RFC 6749, section 5.2. An answer of any other form has none. */
function refusalOf(status: number, { error, error_description: text }: Record<string, unknown>): ProviderRefusal {
  const code = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? error : 'unknown';
  // Google has a code of its own for a wrong page, others say it in words. Apple calls it invalid_client.
  const isPage = /^redirect_uri/.test(code) || (code === 'invalid_grant' && /redirect[ _]ur[il]/i.test(String(text)));
  if (isPage) return new ProviderRefusal('wrong_page', code);
  const isClient = code === 'invalid_client' || code === 'unauthorized_client' || status === 401;
  return new ProviderRefusal(isClient ? 'wrong_client' : 'wrong_code', code);
}

/** Returns the members of a JSON object; none if the text is no JSON. The parser's own error would quote the text. */
function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/**
 * Fetches a provider's keys. Returns them with the headers of the answer. Throws if the answer has another status than
 * 200, is too long or has no keys, or if none comes in 3 s.
 */
export async function fetchProviderKeys(
  url: string,
  send: typeof fetch,
): Promise<{ readonly keys: JSONWebKeySet; readonly headers: Headers }> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await send(url, { headers: { Accept: 'application/json' }, redirect: 'error', signal });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`status ${answer.status}`);
  }
  const text = await readText(answer, { maximumBytes: maximumKeyBytes, signal });
  // RFC 8259, section 8.1, lets a reader ignore a byte order mark.
  const set = JSON.parse(text.replace(/^\ufeff/, '')) as JSONWebKeySet | null;
  // jose refuses a whole set for one member that is no key.
  const keys = Array.isArray(set?.keys) ? set.keys.filter((key) => Object(key) === key) : [];
  if (keys.length === 0) throw new Error('no keys');
  return { keys: { keys }, headers: answer.headers };
}

/** Returns the number of keys that can check a signature by one of the algorithms. Throws if the set is malformed. */
export async function countUsableKeys({ keys }: JSONWebKeySet, algorithms: readonly string[]): Promise<number> {
  const isUsable = (find: ReturnType<typeof createLocalJWKSet>) =>
    Promise.any(algorithms.map(async (alg) => find({ alg }))).then(
      () => true,
      () => false,
    );
  const finders = keys.map((key) => createLocalJWKSet({ keys: [key] }));
  return (await Promise.all(finders.map(isUsable))).filter(Boolean).length;
}
