import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { newEmail, password } from '../../../support/api/accounts.ts';
import { keepConnections, type SentRequest, send } from '../../../support/http-client.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { uniqueName } from '../../../support/test-environment.ts';
import { startServer } from '../machine/start-server.ts';
import { type Candidate, hashedOperations, type OperationName } from './operations.ts';
import { apiNode, makeHash } from './own-candidate.ts';

/** The directory of the peer's package, which the project's install leaves out. */
export const betterAuthDirectory = join(import.meta.dirname, '../better-auth');

/** Returns the installed version; undefined if better-auth is not installed. */
export function betterAuthVersion(): string | undefined {
  const manifest = join(betterAuthDirectory, 'node_modules/better-auth/package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** The peer's equivalent of each operation. */
export const equivalents = {
  register: '`sign-up/email`, without a session',
  login: '`sign-in/email`',
  'session read': '`get-session`, without its refresh: session and user',
  refresh: '`get-session` with `updateAge: 0`: the session’s expiry is written anew, its token stays',
  logout: '`sign-out`',
} as const satisfies Record<OperationName, string>;

/** Returns a request with data that the peer's server has seeded: an account, or a session's headers. */
function requestOf(
  operation: OperationName,
  { email, headers }: { readonly email?: string; readonly headers?: SentRequest['headers'] },
): SentRequest {
  const post = (path: string, body: object) => ({
    path: `/api/auth/${path}`,
    body,
    headers: { ...browser, ...headers },
  });
  const get = (query: string) => ({ method: 'GET', path: `/api/auth/get-session${query}`, headers: { ...headers } });
  const requests = {
    register: () => post('sign-up/email', { email: newEmail(), password, name: 'Cook' }),
    login: () => post('sign-in/email', { email, password }),
    'session read': () => get('?disableRefresh=true'),
    refresh: () => get(''),
    logout: () => post('sign-out', {}),
  } as const satisfies Record<OperationName, () => SentRequest>;
  return requests[operation]();
}

/** A browser sends the origin of the page. */
const browser = { Origin: 'http://127.0.0.1', 'Content-Type': 'application/json' };

/** Starts the peer, which must be installed, on its own database. */
export async function startBetterAuth({ mongo }: TestServers): Promise<Candidate> {
  const database = uniqueName();
  const server = await startServer([apiNode, join(betterAuthDirectory, 'server.mjs')], /"listening":(\d+)/, {
    NODE_ENV: 'production',
    MONGODB_URI: mongo.uri,
    MONGODB_DATABASE: database,
    PASSWORD_HASH: makeHash(),
  });
  const agent = keepConnections({ maxSockets: 64 });
  const ask = async (request: SentRequest) => {
    const { status, text, json } = await send(`http://127.0.0.1:${server.port}`, { ...request, agent });
    if (status >= 300) throw new Error(`${request.path} answered ${status}: ${text}`);
    return json;
  };
  return {
    name: 'better-auth',
    pid: server.pid,
    async prepare(operation, count) {
      const kind = hashedOperations.has(operation) ? 'accounts' : 'sessions';
      // A refresh does not change the token, so few sessions serve repeatedly.
      const seeded = operation === 'session read' || operation === 'refresh' ? Math.min(count, 100) : count;
      const path = `/seed/${kind}`;
      const subjects = operation === 'register' ? [{}] : await ask({ path, body: { count: seeded } });
      return (index) => ask(requestOf(operation, subjects[index % subjects.length]));
    },
    async end() {
      agent.destroy();
      await server.end();
      const client = new MongoClient(mongo.uri);
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}
