import { Agent, request as httpRequest } from 'node:http';

/** An answer that came. */
export interface Reply {
  readonly status: number;
  /** `error_code` of an error. */
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** Those of an error. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AppRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly accessToken?: string;
  readonly idempotencyKey?: string;
}

export interface SendOptions {
  readonly port: number;
  readonly requestId: string;
  /** Milliseconds after which the app gives up and closes the connection. */
  readonly timeoutMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 500 });

/** Sends it as an app does, over kept connections. Undefined if no complete answer came. */
export function sendFromApp(
  request: AppRequest,
  { port, requestId, timeoutMs }: SendOptions,
): Promise<Reply | undefined> {
  const { method, path, body, accessToken, idempotencyKey } = request;
  const payload = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
  const headers = {
    'Content-Type': 'application/json',
    'X-Request-ID': requestId,
    ...(payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) }),
    ...(accessToken === undefined ? {} : { Authorization: `Bearer ${accessToken}` }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  };
  return new Promise((resolve) => {
    const req = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', () => resolve(undefined));
      res.on('end', () => resolve(res.complete ? parse(res.statusCode ?? 0, Buffer.concat(chunks)) : undefined));
    });
    const timer = setTimeout(() => req.destroy(), timeoutMs);
    req.on('error', () => resolve(undefined));
    req.on('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    req.end(payload);
  });
}

function parse(status: number, body: Buffer): Reply | undefined {
  try {
    const { error_code: code, data = {}, details = {} } = JSON.parse(body.toString('utf8'));
    return { status, code, data, details };
  } catch {
    return undefined; // interrupted on its way
  }
}

/** Closes the kept connections. */
export function endAppConnections(): void {
  agent.destroy();
}
