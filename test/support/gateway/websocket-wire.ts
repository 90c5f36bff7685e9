import { createHash } from 'node:crypto';

/** One key serves all handshakes. A key protects caches from confusion, and there is no cache here. */
const key = 'dGhlIHNhbXBsZSBub25jZQ==';

/** RFC 6455 section 4.2.2: the server's answer to the key. */
const acceptedKey = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

/** Number of further bytes of the length, by its first byte. */
const extendedBytes: Readonly<Record<number, number>> = { 126: 2, 127: 8 };

/** Returns the request that opens a stream. */
export function handshakeRequest(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${lines.join('')}\r\n`
  );
}

/**
 * Returns the index at which the frames begin after an accepting answer, or undefined while the answer is incomplete.
 * If the answer refuses, or belongs to another request, throws with its first line.
 */
export function findFrames(answer: Buffer): number | undefined {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = answer.toString('latin1', 0, end);
  const [first] = head.split('\r\n', 1);
  if (!first?.startsWith('HTTP/1.1 101')) throw new Error(`the handshake was answered: ${first}`);
  const accept = /^sec-websocket-accept: *(\S+)/im.exec(head)?.[1];
  if (accept !== acceptedKey) throw new Error('the handshake was answered with a wrong Sec-WebSocket-Accept');
  return end + 4;
}

/**
 * Reads a server's frames (unmasked, whole messages) and returns the bytes of a last, incomplete one. `payload` is a
 * view of the given bytes.
 */
export function readFrames(bytes: Buffer, onFrame: (opcode: number, payload: Buffer) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 2) {
    const opcode = bytes.readUInt8(at) & 0x0f;
    const short = bytes.readUInt8(at + 1) & 0x7f;
    const start = at + 2 + (extendedBytes[short] ?? 0);
    if (bytes.length < start) break;
    // The upper two of eight bytes are never used, because no frame is that long.
    const length = short < 126 ? short : bytes.readUIntBE(Math.max(at + 2, start - 6), Math.min(6, start - at - 2));
    if (bytes.length < start + length) break;
    onFrame(opcode, bytes.subarray(start, start + length));
    at = start + length;
  }
  return bytes.subarray(at);
}

/**
 * Returns a client's frame of at most 65,535 bytes. It must be masked: a mask of zeros is allowed and costs nothing.
 */
export function clientFrame(opcode: number, payload: Uint8Array | string): Buffer {
  const content = Buffer.from(payload as string);
  const { length } = content;
  if (length > 65_535) throw new RangeError('a frame of this client has 65,535 bytes at most');
  const encoded = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...encoded, 0, 0, 0, 0]), content]);
}
