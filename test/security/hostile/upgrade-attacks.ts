import { randomBytes } from 'node:crypto';
import { pushStreamPath } from '@auth-account/contracts';
import { openSocket } from '../../support/gateway/raw-connection.ts';
import { encodeFrame, opcodes } from './frame-attacks.ts';

export interface Credentials {
  readonly sessionId: string;
  readonly token: string;
}

/** An attempt to open a stream, real or apparent. */
export interface UpgradeAttack {
  readonly name: string;
  readonly bytes: Buffer;
  /** True if the connection is cut (RST) as soon as everything is written. */
  readonly isAborted?: boolean;
}

interface Head {
  readonly path?: string;
  readonly key?: string | null;
  readonly version?: string | null;
  readonly token?: string | null;
  readonly more?: readonly string[];
}

const goodKey = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Returns handshakes that must open no stream, and some that are cut. */
export function upgradeAttacks({ sessionId, token }: Credentials): UpgradeAttack[] {
  const own = pushStreamPath(sessionId);
  const handshake = ({ path = own, key = goodKey, version = '13', token: bearer = token, more = [] }: Head = {}) =>
    `${[
      `GET ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      ...(key === null ? [] : [`Sec-WebSocket-Key: ${key}`]),
      ...(version === null ? [] : [`Sec-WebSocket-Version: ${version}`]),
      ...(bearer === null ? [] : [`Authorization: Bearer ${bearer}`]),
      ...more,
    ].join('\r\n')}\r\n\r\n`;
  const attack = (name: string, head: Head): UpgradeAttack => ({ name, bytes: Buffer.from(handshake(head), 'latin1') });
  const whole = Buffer.from(handshake());
  const frame = encodeFrame({ opcode: opcodes.text, payload: '{"type":"ping"}' });
  const [head = '', claims = '', signature = ''] = token.split('.');
  return [
    attack('no key', { key: null }),
    attack('an empty key', { key: '' }),
    attack('a key of 8 bytes', { key: 'dGhlIHNh' }),
    attack('a key of 3 KB', { key: 'a'.repeat(3_000) }),
    attack('no version', { version: null }),
    ...['0', '8', '12', '14', '13, 8', '-13', '99999999999999999999'].map((version) =>
      attack(`version ${version}`, { version }),
    ),
    attack('no token', { token: null }),
    attack('noise as a token', { token: randomBytes(300).toString('base64url') }),
    attack('a token without its signature', { token: `${head}.${claims}.` }),
    attack('a token with another signature', { token: `${head}.${claims}.${'A'.repeat(signature.length)}` }),
    attack('a token with a header of its own', {
      token: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
    }),
    attack('a token of 3 KB', { token: 'a.'.repeat(1_500) }),
    attack('two tokens', { more: ['Authorization: Bearer a.b.c'] }),
    attack('another session', { path: pushStreamPath('00000000-0000-4000-8000-000000000000') }),
    attack('an id of 3 KB', { path: pushStreamPath('a'.repeat(3_000)) }),
    attack('an id that cannot be decoded', { path: pushStreamPath('%ff%00%2e%2e') }),
    attack('an id of raw bytes', { path: pushStreamPath('\u00ff\u00fe') }),
    attack('no id', { path: pushStreamPath('') }),
    attack('a path with a query', { path: `${own}/../x?access_token=${token.slice(0, 40)}` }),
    attack('a hundred subprotocols', { more: [`Sec-WebSocket-Protocol: ${'a,'.repeat(100)}`], token: null }),
    attack('subprotocols of raw bytes', { more: ['Sec-WebSocket-Protocol: bearer, \u00ff\u00fe'], token: null }),
    attack('a body', { more: ['Content-Length: 5'], token: null }),
    attack('a chunked body', { more: ['Transfer-Encoding: chunked'] }),
    attack('two lengths', { more: ['Content-Length: 0', 'Content-Length: 44'] }),
    ...[1, 20, 60, whole.length - 1].map((at) => ({
      name: `cut after ${at} bytes`,
      bytes: whole.subarray(0, at),
      isAborted: true,
    })),
    { name: 'cut when it was complete', bytes: whole, isAborted: true },
    { name: 'cut behind a first frame', bytes: Buffer.concat([whole, frame]), isAborted: true },
    { name: 'two at once', bytes: Buffer.concat([whole, whole]) },
    { name: 'twenty at once', bytes: Buffer.concat(Array.from({ length: 20 }, () => whole)) },
    { name: 'noise behind it', bytes: Buffer.concat([whole, randomBytes(2_000)]) },
  ];
}

/** Outcome of a try: the status of the first answer, or how the connection ended without an answer. */
export type UpgradeOutcome = number | 'aborted' | 'ended' | 'hangs';

/** Makes one try on a separate connection. It leaves nothing open. */
export function tryUpgrade(
  port: number,
  { bytes, isAborted = false }: UpgradeAttack,
  waitMs: number,
): Promise<UpgradeOutcome> {
  const { promise, resolve } = Promise.withResolvers<UpgradeOutcome>();
  const socket = openSocket(port);
  const finish = (outcome: UpgradeOutcome) => {
    clearTimeout(timer);
    socket.resetAndDestroy();
    resolve(outcome);
  };
  const timer = setTimeout(() => finish('hangs'), waitMs);
  socket.on('connect', () => socket.write(bytes, () => (isAborted ? finish('aborted') : undefined)));
  socket.on('data', (chunk) => {
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(chunk.toString('latin1')) ?? [];
    finish(status === undefined ? 'ended' : Number(status));
  });
  socket.on('close', () => finish('ended'));
  return promise;
}
