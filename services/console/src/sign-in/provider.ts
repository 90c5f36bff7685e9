import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { type ConsoleConfig, isLoopback } from '../config.ts';
import { ConsoleError } from '../runtime/console-error.ts';

/** Values that the start of a sign-in chooses, and its end compares. */
export interface SignInStart {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider's words on a person. */
export interface ProviderAnswer {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly accessToken: string;
  readonly idToken: string | undefined;
  /** The provider's name of its session. */
  readonly providerSession: string | undefined;
  /** Seconds of life of the access token, if the provider says so. */
  readonly expiresIn: number | undefined;
}

/** A refusal by the provider, or an answer of it that must not be believed. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
}

/**
 * The company's OpenID provider. All reject with a `ConsoleError` `unavailable` if it does not answer, and with a
 * `ProviderRefusal`.
 */
export interface Provider {
  /** Returns the provider's page to which the browser goes. */
  begin(start: SignInStart): Promise<URL>;
  /** Exchanges the code of a callback, and reads who the person is. */
  finish(callback: URL, start: SignInStart): Promise<ProviderAnswer>;
  /** Reads who the person is now. */
  ask(accessToken: string, subject: string): Promise<ProviderAnswer['claims']>;
  /** Returns the page on which the person signs out there too; null if there is none. */
  endSessionUrl(idToken: string | undefined): Promise<string | null>;
  /** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
  readLogout(token: string): Promise<JWTPayload>;
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Algorithms with a public key, so that nobody can use that key as a secret (RFC 8725, section 3.1). */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Creates the provider. It is discovered when it is first needed, and again after a failure. `timeoutMs`: the limit for
 * one request to it.
 */
export function createProvider(config: ConsoleConfig, timeoutMs: number): Provider {
  const discovered = createDiscovery(config, timeoutMs);
  const callbackUrl = `${config.CONSOLE_PUBLIC_URL}/sign-in/callback`;

  async function ask(found: client.Configuration, accessToken: string, subject: string) {
    return { ...(await client.fetchUserInfo(found, accessToken, subject)) };
  }

  return {
    begin: (start) =>
      judged(async () => {
        const found = (await discovered()).configuration;
        return client.buildAuthorizationUrl(found, {
          redirect_uri: callbackUrl,
          scope: config.CONSOLE_SCOPES,
          state: start.state,
          nonce: start.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(start.verifier),
          code_challenge_method: 'S256',
        });
      }),
    finish: (callback, start) =>
      judged(async () => {
        const found = (await discovered()).configuration;
        const tokens = await client.authorizationCodeGrant(found, callback, {
          pkceCodeVerifier: start.verifier,
          expectedState: start.state,
          expectedNonce: start.nonce,
          idTokenExpected: true,
        });
        const { sub = '', sid } = tokens.claims() ?? ({} as Partial<client.IDToken>);
        return {
          subject: sub,
          claims: await ask(found, tokens.access_token, sub),
          accessToken: tokens.access_token,
          idToken: tokens.id_token,
          providerSession: typeof sid === 'string' ? sid : undefined,
          expiresIn: tokens.expiresIn(),
        };
      }),
    ask: (accessToken, subject) => judged(async () => ask((await discovered()).configuration, accessToken, subject)),
    endSessionUrl: (idToken) =>
      judged(async () => {
        const found = (await discovered()).configuration;
        if (found.serverMetadata().end_session_endpoint === undefined) return null;
        const hint = idToken === undefined ? {} : { id_token_hint: idToken };
        const parameters = { ...hint, post_logout_redirect_uri: `${config.CONSOLE_PUBLIC_URL}/` };
        return client.buildEndSessionUrl(found, parameters).href;
      }),
    readLogout: (token) =>
      judged(async () => {
        const { payload } = await jwtVerify(token, (await discovered()).keys, {
          issuer: config.CONSOLE_ISSUER,
          audience: config.CONSOLE_CLIENT_ID,
          algorithms,
          requiredClaims: ['iat', 'jti', 'events'],
          maxTokenAge: '5 minutes',
          clockTolerance: 30,
        });
        assertLogout(payload);
        return payload;
      }),
  };
}

function assertLogout({ events, nonce, sub, sid }: JWTPayload): void {
  const isLogout = Object.hasOwn(Object(events), logoutEvent);
  // With a nonce it could be an id token (section 2.4).
  if (!isLogout || nonce !== undefined) throw new ProviderRefusal('it is no logout token');
  if (typeof sub !== 'string' && typeof sid !== 'string') throw new ProviderRefusal('it names nobody');
}

interface Discovered {
  readonly configuration: client.Configuration;
  /** Keys that verify logout tokens. */
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** Returns what finds the provider. Simultaneous calls share one search, and a failed search is not remembered. */
function createDiscovery(config: ConsoleConfig, timeoutMs: number): () => Promise<Discovered> {
  const { CONSOLE_ISSUER: issuer, CONSOLE_CLIENT_SECRET: secret } = config;
  const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret);
  const checks = [client.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [client.allowInsecureRequests] : [])];
  let search: Promise<Discovered> | undefined;
  async function discover(): Promise<Discovered> {
    const options = { execute: checks, timeout: timeoutMs / 1_000 };
    const url = new URL(issuer);
    const configuration = await client.discovery(url, config.CONSOLE_CLIENT_ID, undefined, authentication, options);
    const { jwks_uri: keysUrl = '' } = configuration.serverMetadata();
    return { configuration, keys: createRemoteJWKSet(new URL(keysUrl), { timeoutDuration: timeoutMs }) };
  }
  return () => {
    search ??= discover().catch((error: unknown) => {
      search = undefined;
      throw new ConsoleError('unavailable', 'The OpenID provider cannot be reached.', { cause: error });
    });
    return search;
  };
}

/** Runs a request to the provider, and sorts its errors. */
async function judged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sorted(error);
  }
}

function sorted(error: unknown): unknown {
  if (error instanceof ConsoleError || error instanceof ProviderRefusal) return error;
  if (isRefusal(error)) return new ProviderRefusal((error as Error).message, { cause: error });
  return new ConsoleError('unavailable', 'The OpenID provider does not answer.', { cause: error });
}

const refusals = [
  client.AuthorizationResponseError,
  client.ResponseBodyError,
  client.WWWAuthenticateChallengeError,
  client.ClientError,
  errors.JOSEError,
];
const silences: readonly unknown[] = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'];

/** Returns true if the provider answered: a status of 5xx or 429 is no answer. */
function isRefusal(error: unknown): boolean {
  const { code, status, cause } = Object(error) as { code?: unknown; status?: unknown; cause?: unknown };
  const answered = Number(status ?? (Object(cause) as { status?: unknown }).status ?? 0);
  if (silences.includes(code) || answered >= 500 || answered === 429) return false;
  return refusals.some((kind) => error instanceof kind);
}
