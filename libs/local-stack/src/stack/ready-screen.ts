import { relative } from 'node:path';
import type { Settings } from './read-settings.ts';

export interface ReadyInfo {
  readonly settings: Settings;
  /** The stack's own servers; undefined where the environment names one. */
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  readonly seconds: number;
}

/**
 * What a person needs to know once everything runs: addresses, a command for each step of the main path, where data
 * lie.
 */
export function readyScreen({ settings, mongodbUri, redisUrl, seconds }: ReadyInfo): string {
  const { ports, dataDir } = settings;
  const api = `http://127.0.0.1:${ports.API_PORT}`;
  return `
Ready after ${seconds.toFixed(1)} s.

  API            ${api}/api/v1      keys: ${api}/.well-known/jwks.json
  push streams   ws://127.0.0.1:${ports.PUSH_PORT}/ws/push-stream/{session_id}
  probes         http://127.0.0.1:${ports.API_OPS_PORT}/readyz (api)  ${ports.PUSH_OPS_PORT} (push-gateway)  ${ports.WORKER_OPS_PORT} (worker); also /livez, /metrics
  events         http://127.0.0.1:${ports.LOCAL_SUBSCRIBER_PORT}/events: "curl -N" shows what arrives at the stack's own subscriber
  MongoDB        ${mongodbUri ?? 'as MONGODB_URI says'}
  Redis          ${redisUrl ?? 'as REDIS_URL says'}
  data           ${relative(process.cwd(), dataDir) || '.'}/ (mongo, redis, keys); "npm run up -- --fresh" starts without them

The main path, to be copied into another terminal in this directory:

${mainPath(api)}

Ctrl-C ends everything. The services' logs follow.
`;
}

function mainPath(api: string): string {
  const post = (path: string) =>
    `curl -sS ${api}/api/v1/auth/${path} -H 'Content-Type: application/json' -H "X-Request-ID: try-${path}"`;
  return `\
  EMAIL="me-$(date +%s)@example.com"; PASSWORD='correct horse battery staple'
  field() { printf '%s' "$ANSWER" | sed -E "s/.*\\"$1\\":\\"([^\\"]*)\\".*/\\1/"; }

  # 1. register
  ${post('register')} -d "{\\"email\\":\\"$EMAIL\\",\\"password\\":\\"$PASSWORD\\",\\"space_creation_mode\\":\\"CREATE_NEW_HOME\\"}"

  # 2. log in
  ANSWER=$(${post('login')} -d "{\\"email\\":\\"$EMAIL\\",\\"password\\":\\"$PASSWORD\\"}"); echo "$ANSWER"

  # 3. open the push stream in the background
  node_modules/.bin/node -e 'const ws = new WebSocket(process.argv[1], ["bearer", process.argv[2]]); ws.onmessage = (e) => console.log("stream:", e.data); ws.onclose = (e) => console.log("stream closed:", e.code, e.reason)' "$(field push_stream_url)" "$(field access_token)" &

  # 4. refresh
  ANSWER=$(${post('refresh')} -d "{\\"refresh_token\\":\\"$(field refresh_token)\\"}"); echo "$ANSWER"

  # 5. log out: the stream closes with 1000 LOGOUT_CONFIRMED
  ${post('logout')} -H "Authorization: Bearer $(field access_token)" -d "{\\"refresh_token\\":\\"$(field refresh_token)\\"}"`;
}
