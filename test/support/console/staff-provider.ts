import { createServer } from 'node:http';
import { createMemoryAdapters } from '@auth-account/local-stack/memory-adapters';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration, type JWK } from 'oidc-provider';
import { send } from '../http-client.ts';
import { listen } from '../listen.ts';

/** A member of staff at the provider: what userinfo says. */
export type StaffClaims = Readonly<Record<string, unknown>>;

export type StaffProvider = Awaited<ReturnType<typeof startStaffProvider>>;

const clientOf = (client_id: string, origin: string, base: string) => ({
  client_id,
  client_secret: `secret of ${client_id}, only for tests`,
  redirect_uris: [`${origin}/sign-in/callback`],
  post_logout_redirect_uris: [`${origin}/`],
  backchannel_logout_uri: `${base}/sign-in/ended`,
  backchannel_logout_session_required: true,
});

/** Name and secret of the console at the provider. */
export const consoleClient = { id: 'console', secret: 'secret of console, only for tests' };

/**
 * Starts a real OpenID provider. Nobody has to prove who he is: `present.person` signs in. `people` may change at any
 * time. It answers once `serve` has named its console.
 */
export async function startStaffProvider(people: Map<string, StaffClaims>) {
  const server = createServer();
  const { url: issuer, close } = await listen(server);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'staff', alg: 'RS256', use: 'sig' };
  const present = { person: '' };
  return {
    ...{ issuer, present, people, privateKey, close },
    /** Begins to answer, for a console with this origin that listens at `base`. */
    serve(origin: string, base: string) {
      const provider = new Provider(issuer, configure(people, jwk, origin, base));
      const handle = provider.callback();
      server.on('request', (req, res) => {
        // Kept connections would keep a test alive.
        res.setHeader('Connection', 'close');
        if (!req.url?.startsWith('/interaction/')) void handle(req, res);
        else void provider.interactionFinished(req, res, { login: { accountId: present.person } });
      });
    },
  };
}

function configure(people: StaffProvider['people'], jwk: object, origin: string, base: string): Configuration {
  return {
    adapter: createMemoryAdapters(),
    ttl: { Interaction: 600, Grant: 3_600, Session: 3_600, AccessToken: 3_600, IdToken: 3_600 },
    clients: [clientOf(consoleClient.id, origin, base), clientOf('other', origin, base)],
    jwks: { keys: [jwk as JWK] },
    cookies: { keys: ['a secret of the provider, only for tests'] },
    claims: { openid: ['sub', 'sid'], profile: ['name'], roles: ['roles', 'realm_access'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = form;
        },
      },
    },
    fetch: callConsole,
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount(_context, sub) {
      const person = people.get(sub);
      return person && { accountId: sub, claims: async () => ({ sub, ...person }) };
    },
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc;
      if (client === undefined || session?.accountId === undefined) return;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile roles');
      await grant.save();
      return grant;
    },
  };
}

/** Sends a logout token. The provider's own client calls no address of this machine. */
async function callConsole(url: string | URL | Request, { body }: RequestInit = {}): Promise<Response> {
  const { origin, pathname } = new URL(String(url));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status } = await send(origin, { path: pathname, headers, body: String(body) });
  return new Response(null, { status });
}
