import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import type { Account, ClientMetadata, Configuration } from 'oidc-provider';
import { escapeHtml } from '../escape-html.ts';
import { createMemoryAdapters } from './memory-adapters.ts';

/** The members of staff, with the values of their claim `roles`. */
const staff = { sam: ['support'], olga: ['operator'], vera: ['viewer'], otto: ['operator'], nobody: [] } as const;
const names = Object.keys(staff) as (keyof typeof staff)[];

/** Client id of the console, which has no secret: PKCE protects its codes. */
export const staffClientId = 'console';

/** Values of `CONSOLE_ROLES` for these members of staff. */
export const staffRoles = { viewer: ['viewer'], support: ['support'], operator: ['operator'] };

export interface StaffProviderOptions {
  /** Port of 127.0.0.1. */
  readonly port: number;
  readonly consoleUrl: string;
}

/** The company's OpenID provider, as the console sees it. */
export interface StaffProvider {
  close(): Promise<void>;
}

/**
 * Starts the certified provider `oidc-provider` with a few members of staff. Its page has a button for each of them, in
 * place of a password.
 */
export async function startStaffProvider({ port, consoleUrl }: StaffProviderOptions): Promise<StaffProvider> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { Provider } = await import('oidc-provider');
  const keys = { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'staff' }] };
  const provider = new Provider(issuer, configurationOf(consoleUrl, keys));
  const answer = provider.callback();

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'POST') {
      res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }).end(signInPage);
      return;
    }
    const accountId = new URLSearchParams(await text(req)).get('name') ?? '';
    await provider.interactionFinished(req, res, { login: { accountId, remember: false } });
  }
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return answer(req, res);
    return interact(req, res).catch((error: Error) => res.writeHead(400).end(error.message));
  });
  return {
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function configurationOf(consoleUrl: string, jwks: Configuration['jwks']): Configuration {
  const client: ClientMetadata = {
    client_id: staffClientId,
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'ES256',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [`${consoleUrl}/sign-in/callback`],
    post_logout_redirect_uris: [`${consoleUrl}/`],
  };
  return {
    ...{ jwks, findAccount, adapter: createMemoryAdapters() },
    clients: [client],
    claims: { openid: ['sub'], profile: ['name', 'roles'] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    renderError(context, { error, error_description }) {
      context.type = 'text/plain';
      context.body = `${error}: ${error_description}`;
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // The console is the company's own: nobody is asked for consent.
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc;
      if (client === undefined || session?.accountId === undefined) return;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile');
      await grant.save();
      return grant;
    },
  };
}

async function findAccount(_: unknown, accountId: string): Promise<Account | undefined> {
  const member = names.find((name) => name === accountId);
  if (member === undefined) return undefined;
  return { accountId, claims: async () => ({ sub: accountId, name: nameOf(accountId), roles: [...staff[member]] }) };
}

const nameOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

const buttons = names.map((name) => {
  const roles = staff[name].join(', ') || 'no role';
  return `<button name="name" value="${name}">${escapeHtml(`${nameOf(name)} (${roles})`)}</button>`;
});

const signInPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Staff sign-in</title><h1>Who are you?</h1><form method="post">${buttons.join('\n')}</form></html>`;
