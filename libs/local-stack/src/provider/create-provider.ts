import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { escapeHtml } from '../escape-html.ts';
import { createSigningKeys, type SigningKeys, type TokenHeader } from './signing-keys.ts';

export type { TokenHeader };

/** The endpoints that apps and services call. */
type Endpoint = 'keys' | 'token' | 'revoke';

/** Faults of an endpoint, in place of its usual answer. */
export interface Behaviour {
  readonly status?: number;
  readonly body?: string;
  readonly delayMs?: number;
  readonly cacheControl?: string;
}

/** A provider of OpenID Connect that behaves like the real ones, and whose faults a test chooses. */
export interface Provider extends Omit<SigningKeys, 'keySet' | 'sign'> {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Answers a request to one of its paths. */
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** Returns an ID token. `change` adds and replaces claims, and `header` parts of the header. */
  sign(change: object, header?: TokenHeader): Promise<string>;
  /**
   * Returns an authorization code, which the token endpoint takes once. `claims` must have `aud` and `sub`. With
   * `redirectUri`, the page to which the code is sent, the endpoint asks for that too.
   */
  issueCode(claims: object, redirectUri?: string): string;
  /** Returns the number of requests to an endpoint. */
  asked(endpoint?: Endpoint): number;
  /** Sets how an endpoint answers from now on. */
  behave(behaviour: Behaviour, endpoint?: Endpoint): void;
  /** Returns the refresh tokens that were issued, oldest first. */
  issued(): readonly string[];
  /** Returns the tokens that were revoked, oldest first. */
  revoked(): readonly string[];
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Answer = Reply | Promise<Reply>;

const json = (body: object, status = 200): Reply => ({ status, body: JSON.stringify(body) });
const wrong = (error: string, error_description?: string) => json({ error, error_description }, 400);

/** Creates a provider. Its paths are below `issuer`; anything before the last part of a path is ignored. */
export function createProvider(issuer: string): Provider {
  const keys = createSigningKeys();
  const grants = createGrants(issuer, keys);
  const behaviours: Partial<Record<string, Behaviour>> = {};
  const counts: Partial<Record<string, number>> = {};

  const ifLocal = (query: URLSearchParams, next: () => Answer) =>
    isLocal(query.get('redirect_uri')) ? next() : wrong('invalid_request');
  const routes: Readonly<Record<string, (query: URLSearchParams, form: URLSearchParams) => Answer>> = {
    'GET openid-configuration': () => json(metadataOf(issuer)),
    'GET keys': async () => json(await keys.keySet()),
    'GET authorize': (query) => ifLocal(query, () => authorizePage(query)),
    'POST authorize': (query, form) => ifLocal(query, () => grants.authorize(query, form)),
    'POST token': (_, form) => grants.exchange(form),
    'POST revoke': (_, form) => grants.revoke(form),
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '', issuer);
    const endpoint = pathname.slice(pathname.lastIndexOf('/') + 1);
    counts[endpoint] = (counts[endpoint] ?? 0) + 1;
    const { status, body, delayMs = 0, cacheControl } = behaviours[endpoint] ?? {};
    const form = new URLSearchParams(await text(req));
    const usual: Reply = (await routes[`${req.method} ${endpoint}`]?.(searchParams, form)) ?? { status: 404 };
    if (delayMs > 0) await sleep(delayMs);
    res.writeHead(status ?? usual.status ?? 200, {
      'Content-Type': 'application/json',
      'Cache-Control': cacheControl ?? (endpoint === 'keys' ? 'public, max-age=600' : 'no-store'),
      Connection: 'close',
      ...usual.headers,
    });
    res.end(body ?? usual.body);
  }

  return {
    issuer,
    jwksUri: `${issuer}/keys`,
    handle: (req, res) => void answer(req, res).catch(() => res.destroy()),
    sign: grants.sign,
    issueCode: grants.issueCode,
    issued: grants.issued,
    revoked: grants.revoked,
    rotate: keys.rotate,
    privateKey: keys.privateKey,
    asked: (endpoint = 'keys') => counts[endpoint] ?? 0,
    behave(behaviour, endpoint = 'keys') {
      behaviours[endpoint] = behaviour;
    },
  };
}

/** Creates what the provider gives out: ID tokens, and codes and refresh tokens, which it remembers. */
function createGrants(issuer: string, keys: SigningKeys) {
  const codes = new Map<string, { readonly claims: object; readonly redirectUri: string | null }>();
  const [issued, revoked]: [string[], string[]] = [[], []];

  function sign(change: object, header?: TokenHeader): Promise<string> {
    const at = Math.floor(Date.now() / 1_000);
    return keys.sign({ iss: issuer, iat: at, exp: at + 600, ...change }, header);
  }

  function issueCode(claims: object, redirectUri: string | null = null): string {
    const code = newSecret('c');
    codes.set(code, { claims, redirectUri });
    return code;
  }

  return {
    sign,
    issueCode,
    issued: () => issued,
    revoked: () => revoked,
    async exchange(form: URLSearchParams): Promise<Reply> {
      if (!isClient(form)) return wrong('invalid_client');
      if (form.get('grant_type') !== 'authorization_code') return wrong('unsupported_grant_type');
      const code = form.get('code') ?? '';
      const { claims, redirectUri } = codes.get(code) ?? {};
      codes.delete(code);
      const isOwn = claims !== undefined && Object(claims).aud === form.get('client_id');
      if (!isOwn) return wrong('invalid_grant');
      if (redirectUri !== form.get('redirect_uri')) return wrong('invalid_grant', 'redirect_uri mismatch');
      const id_token = await sign(claims);
      const refresh_token = newSecret('r');
      issued.push(refresh_token);
      const tokens = { access_token: newSecret('a'), refresh_token, id_token };
      return json({ ...tokens, token_type: 'Bearer', expires_in: 3_600 });
    },
    revoke(form: URLSearchParams): Reply {
      if (!isClient(form)) return wrong('invalid_client');
      const token = form.get('token');
      if (!token) return wrong('invalid_request');
      // RFC 7009, section 2.2: an unknown token is no error.
      revoked.push(token);
      return {};
    },
    /** Sends the browser back to the app with the person who was chosen on the page. */
    async authorize(asked: URLSearchParams, form: URLSearchParams): Promise<Reply> {
      const [email, name] = [form.get('email') ?? '', form.get('name') || undefined];
      const person = { sub: hash('sha256', email.toLowerCase()), email, email_verified: true, name };
      const claims = { aud: asked.get('client_id'), nonce: asked.get('nonce'), ...person };
      const fields = new URLSearchParams({ state: asked.get('state') ?? '', id_token: await sign(claims) });
      if (asked.get('response_type')?.includes('code')) {
        fields.set('code', issueCode(claims, asked.get('redirect_uri')));
      }
      return { status: 303, headers: { Location: `${asked.get('redirect_uri')}#${fields}` } };
    },
  };
}

const newSecret = (kind: string) => `${kind}.${randomBytes(24).toString('base64url')}`;

/** The document of OpenID Connect Discovery 1.0, section 3, with the fields that Apple's has. */
function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['id_token', 'code id_token'],
    response_modes_supported: ['fragment'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    scopes_supported: ['openid', 'email', 'name'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    claims_supported: ['aud', 'email', 'email_verified', 'exp', 'iat', 'iss', 'name', 'nonce', 'sub'],
  };
}

/** Returns true if the secret has the form that Apple demands: a young JWT of the client, signed with ES256. */
function isClient(form: URLSearchParams): boolean {
  try {
    const secret = form.get('client_secret') ?? '';
    const { alg, kid } = decodeProtectedHeader(secret);
    const { iss, sub, aud, iat = 0, exp = 0 } = decodeJwt(secret);
    const isWhole = [kid, iss, aud].every((part) => typeof part === 'string' && part !== '');
    const at = Date.now() / 1_000;
    return alg === 'ES256' && isWhole && sub === form.get('client_id') && iat <= at + 60 && exp > at;
  } catch {
    return false;
  }
}

/** Browsers are sent only to pages of this machine, with a fragment that is this provider's. */
function isLocal(redirectUri: string | null): boolean {
  const { protocol, hostname, hash: fragment } = URL.parse(redirectUri ?? '') ?? {};
  return protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname ?? '') && fragment === '';
}

/**
 * Returns the page where one says who one is. Nobody has to prove it. `login_hint` is the email address that is
 * proposed. A form without an action goes back to the page's own URL, with the app's parameters.
 */
function authorizePage(query: URLSearchParams): Reply {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local ID</title>
<style>
  body { font: 16px/1.5 sans-serif; max-width: 320px; margin: 0 auto; padding: 16px; }
  input, button { font: inherit; box-sizing: border-box; width: 100%; margin-bottom: 12px; padding: 6px; }
</style>
</head>
<body>
<h1>Local ID</h1>
<form method="post">
<label>Address <input name="email" type="email" required value="${escapeHtml(query.get('login_hint') ?? '')}"></label>
<label>Name <input name="name"></label>
<button>Continue to ${escapeHtml(query.get('client_id') ?? '')}</button>
</form>
</body>
</html>
`;
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; " +
        "form-action 'self' http://localhost:* http://127.0.0.1:*; frame-ancestors 'self'",
    },
    body,
  };
}
