import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of answers, the compiler cannot know it.
  readonly json: any;
}

/** Sends the bytes of a header value as an attacker writes them, also those that HTTP clients refuse to send. */
function sendRaw(base: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(base);
  const [start, ...headers] = lines;
  const head = [start, `Host: ${host}`, ...headers, '', ''].join('\r\n');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const answer = parse(Buffer.concat(chunks).toString('utf8'));
      if (answer === undefined) return;
      resolve(answer);
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no complete answer, but ${Buffer.concat(chunks).toString('utf8')}`)));
    socket.write(head + body, 'utf8');
  });
}

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
  const body = text.slice(end + 4);
  const status = Number(start.split(' ')[1]);
  if (status === 101) return { status, headers, json: undefined };
  if (Buffer.byteLength(body) < Number(headers.get('content-length') ?? 0)) return undefined;
  return { status, headers, json: headers.get('content-type') === 'application/json' ? JSON.parse(body) : undefined };
}

/** Logs out with that token: the endpoint that checks authorization before anything else. */
export function logOutRaw(base: string, token: string): Promise<RawAnswer> {
  const body = JSON.stringify({ refresh_token: 'none' });
  return sendRaw(
    base,
    [
      'POST /api/v1/auth/logout HTTP/1.1',
      'Content-Type: application/json',
      'X-Request-ID: forged-1',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Authorization: Bearer ${token}`,
      'Connection: close',
    ],
    body,
  );
}

/** Requests a push stream with that token, in the header or as the second subprotocol. */
export function upgradeRaw(
  base: string,
  { sessionId, token, place }: { sessionId: string; token: string; place: 'header' | 'subprotocol' },
): Promise<RawAnswer> {
  return sendRaw(base, [
    `GET /ws/push-stream/${sessionId} HTTP/1.1`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    place === 'header' ? `Authorization: Bearer ${token}` : `Sec-WebSocket-Protocol: bearer, ${token}`,
  ]);
}
