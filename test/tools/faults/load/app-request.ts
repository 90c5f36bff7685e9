import { bearer } from '../../../support/api/api-driver.ts';
import { type Answer, keepConnections, send } from '../../../support/http-client.ts';

/** An answer to a request. */
export interface Reply {
  readonly status: number;
  /** The `error_code` of an error. */
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** The `details` of an error. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AppRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly accessToken?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The client's network, as a proxy reports it. */
  readonly network?: string | undefined;
}

export interface SendOptions {
  readonly port: number;
  readonly requestId: string;
  /** Milliseconds after which the app gives up and closes the connection. */
  readonly timeoutMs: number;
}

const agent = keepConnections({ maxSockets: 500 });

/** Sends a request as an app does, over kept connections. Returns undefined if no complete answer came. */
export function sendFromApp(
  request: AppRequest,
  { port, requestId, timeoutMs }: SendOptions,
): Promise<Reply | undefined> {
  const { method, path, body = {}, accessToken, idempotencyKey, network } = request;
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-ID': requestId,
    ...(accessToken === undefined ? {} : bearer(accessToken)),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    ...(network === undefined ? {} : { 'X-Forwarded-For': network }),
  };
  const sent = { method, path, headers, agent, signal: AbortSignal.timeout(timeoutMs) };
  return send(`http://127.0.0.1:${port}`, method === 'POST' ? { ...sent, body } : sent).then(replyOf, () => undefined);
}

function replyOf({ status, json }: Answer): Reply | undefined {
  if (json === undefined) return undefined;
  const { error_code: code, data = {}, details = {} } = json;
  return { status, code, data, details };
}

/** Closes the kept connections. */
export function endAppConnections(): void {
  agent.destroy();
}
