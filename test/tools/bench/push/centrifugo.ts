import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@auth-account/local-stack';
import { loadKeyFile } from '@auth-account/tokens';
import { publicKeySet } from '@auth-account/verifier/access-token';
import { send } from '../../../support/http-client.ts';
import type { Commander } from './commander.ts';
import { monotonicNow } from './monotonic-now.ts';
import { type ServerProcess, startServer } from './server-process.ts';

type Environment = Readonly<Record<string, string>>;

export const centrifugoBinary = join(import.meta.dirname, '../../../../.cache/centrifugo');
const apiKey = 'bench';

/** Starts a node of centrifugo with its Redis engine. It accepts our tokens, and takes the session as its user. */
export async function startCentrifugo(env: Environment): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'centrifugo-'));
  const keys = await serveKeys(env.ACCESS_TOKEN_KEYS_FILE ?? '');
  const config = join(directory, 'config.json');
  const settings = {
    engine: 'redis',
    redis_address: env.REDIS_URL,
    redis_prefix: `${env.KEY_PREFIX}-centrifugo`,
    address: '127.0.0.1',
    port: String(await findFreePort()),
    api_key: apiKey,
    allow_subscribe_for_client: true,
    token_jwks_public_endpoint: keys.url,
    token_user_id_claim: 'sid',
    token_audience: 'food-storage',
    token_issuer: 'https://auth.local',
  };
  await writeFile(config, JSON.stringify(settings));
  const clear = async () => {
    keys.close();
    await rm(directory, { recursive: true });
  };
  const starting = startServer({
    command: [centrifugoBinary, '-c', config],
    env: { PATH: process.env.PATH },
    listening: /serving websocket[^"]* on 127\.0\.0\.1:(\d+)/,
  });
  starting.catch(clear);
  const server = await starting;
  return { ...server, end: () => server.end().then(clear) };
}

/** Serves the public keys, which centrifugo fetches over HTTP. */
async function serveKeys(file: string): Promise<{ readonly url: string; close(): void }> {
  const keys = JSON.stringify(publicKeySet(await loadKeyFile(file)));
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json').end(keys);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts another node for commands, so that they pass through Redis as with the other candidates. */
export async function commandCentrifugo(env: Environment): Promise<Commander> {
  const node = await startCentrifugo(env);
  async function call(method: string, body: object): Promise<number> {
    const at = monotonicNow();
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
    const { status, text } = await send(`http://127.0.0.1:${node.port}`, { path: `/api/${method}`, headers, body });
    if (status !== 200 || text.includes('"error"')) throw new Error(`${method} answered ${status}: ${text}`);
    return at;
  }
  return {
    close: (sessionId) => call('disconnect', { user: sessionId }),
    broadcast: (groupId, payload) => call('publish', { channel: `group.${groupId}`, data: payload }),
    end: node.end,
  };
}
