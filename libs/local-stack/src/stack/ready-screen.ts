import { relative } from 'node:path';
import type { Settings } from './read-settings.ts';

export interface ReadyInfo {
  readonly settings: Settings;
  /** Addresses of the stack's own servers. An address is undefined if the environment names the server. */
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  /** True if the stack's own event subscriber runs. */
  readonly hasSubscriber: boolean;
  readonly seconds: number;
}

/**
 * Returns the text that is shown when everything runs: a command for each step of the main path, then all addresses.
 */
export function readyScreen({ settings, mongodbUri, redisUrl, hasSubscriber, seconds }: ReadyInfo): string {
  const { ports, dataDir } = settings;
  const local = (port: number) => `http://127.0.0.1:${port}`;
  const api = local(ports.API_PORT);
  const mails = `${local(ports.LOCAL_SUBSCRIBER_PORT)}/mail: every mail that the stack sends; its code is in a line below`;
  const events = `curl -N ${local(ports.LOCAL_SUBSCRIBER_PORT)}/events shows them as they arrive`;
  return `
Ready after ${seconds.toFixed(1)} s.

The main path, to be copied into another terminal in this directory:

${mainPath(api)}

Addresses:

  playground     ${local(ports.LOCAL_SUBSCRIBER_PORT)}/: two phones, and what happens inside, in a browser
  console        ${local(ports.CONSOLE_PORT)}/: accounts and the system, for staff; sign in as Sam, Olga or Vera
  api            ${api}/api/v1
  API docs       ${api}/docs (OpenAPI: /openapi.json, public keys: /.well-known/jwks.json)
  push streams   ws://127.0.0.1:${ports.PUSH_PORT}/ws/push-stream/{session_id}
  events         ${hasSubscriber ? events : 'to the subscribers that EVENT_SUBSCRIBERS names'}
  mails          ${hasSubscriber ? mails : 'by the subscribers of the kind smtp in EVENT_SUBSCRIBERS'}
  probes         /livez, /readyz and /metrics of each service:
                 api ${local(ports.API_OPS_PORT)}, push-gateway ${local(ports.PUSH_OPS_PORT)}, worker ${local(ports.WORKER_OPS_PORT)}
  MongoDB        ${mongodbUri ?? 'as MONGODB_URI says'}
  Redis          ${redisUrl ?? 'as REDIS_URL says'}
  data           ${relative(process.cwd(), dataDir) || '.'}/; "npm run up -- --fresh" starts without them
  authctl        npx authctl doctor; npx authctl --help (docs/authctl.md). It finds this stack by itself

Ctrl-C ends everything. The services' logs follow.
`;
}

function mainPath(api: string): string {
  return `\
  EMAIL="me-$(date +%s)@example.com"; PASSWORD='correct horse battery staple'
  auth() { step=$1; shift; curl -sS "${api}/api/v1/auth/$step" \\
    -H 'Content-Type: application/json' -H "X-Request-ID: try-$step" "$@"; echo; }
  field() { printf '%s' "$ANSWER" | sed -E "s/.*\\"$1\\":\\"([^\\"]*)\\".*/\\1/"; }

  # 1. register
  auth register -d "{\\"email\\":\\"$EMAIL\\",\\"password\\":\\"$PASSWORD\\",\\"space_creation_mode\\":\\"CREATE_NEW_HOME\\"}"

  # 2. log in
  ANSWER=$(auth login -d "{\\"email\\":\\"$EMAIL\\",\\"password\\":\\"$PASSWORD\\"}"); echo "$ANSWER"

  # 3. open the push stream in the background
  node_modules/.bin/node -e 'const ws = new WebSocket(process.argv[1], ["bearer", process.argv[2]])
    ws.onmessage = (e) => console.log("stream:", e.data)
    ws.onclose = (e) => console.log("stream closed:", e.code, e.reason)' \\
    "$(field push_stream_url)" "$(field access_token)" &

  # 4. refresh
  ANSWER=$(auth refresh -d "{\\"refresh_token\\":\\"$(field refresh_token)\\"}"); echo "$ANSWER"

  # 5. log out: the stream closes with 1000 LOGOUT_CONFIRMED
  auth logout -H "Authorization: Bearer $(field access_token)" -d "{\\"refresh_token\\":\\"$(field refresh_token)\\"}"`;
}
