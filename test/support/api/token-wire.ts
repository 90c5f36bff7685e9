import { exchange } from '../gateway/raw-connection.ts';
import { handshakeRequest } from '../gateway/websocket-wire.ts';
import { bearer } from './api-driver.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of answers, the compiler cannot know it.
  readonly json: any;
}

/** Sends a header value as an attacker writes it, even bytes that HTTP clients refuse to send. */
async function sendRaw(base: string, request: string): Promise<RawAnswer> {
  const isEnough = (text: string) => parse(text) !== undefined;
  const { text } = await exchange(base, Buffer.from(request), { waitMs: 60_000, isEnough });
  const answer = parse(text);
  if (answer === undefined) throw new Error(`no complete answer, but ${text}`);
  return answer;
}

/** `text` has one character per byte. */
function parse(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = Buffer.from(text.slice(end + 4), 'latin1');
  const status = Number(start.split(' ')[1]);
  if (status === 101) return { status, headers, json: undefined };
  if (body.length < Number(headers.get('content-length') ?? 0)) return undefined;
  const isJson = headers.get('content-type') === 'application/json';
  return { status, headers, json: isJson ? JSON.parse(body.toString()) : undefined };
}

/** Logs out with the token, because this endpoint checks authorization before anything else. */
export function logOutRaw(base: string, token: string): Promise<RawAnswer> {
  const body = JSON.stringify({ refresh_token: 'none' });
  const lines = [
    'POST /api/v1/auth/logout HTTP/1.1',
    `Host: ${new URL(base).host}`,
    'Content-Type: application/json',
    'X-Request-ID: forged-1',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Authorization: Bearer ${token}`,
    'Connection: close',
  ];
  return sendRaw(base, `${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Requests a push stream with the token, in the header or as the second subprotocol. */
export function upgradeRaw(
  base: string,
  { sessionId, token, place }: { sessionId: string; token: string; place: 'header' | 'subprotocol' },
): Promise<RawAnswer> {
  const proof = place === 'header' ? bearer(token) : { 'Sec-WebSocket-Protocol': `bearer, ${token}` };
  return sendRaw(base, handshakeRequest(`/ws/push-stream/${sessionId}`, proof));
}
