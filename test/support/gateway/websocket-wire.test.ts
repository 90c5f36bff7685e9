import { expect, test } from '@jest/globals';
import { clientFrame, findFrames, handshakeRequest, opcodes, readFrames } from './websocket-wire.ts';

const accepting = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  // The example of RFC 6455 section 1.3.
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
].join('\r\n');

/** A server's frame, written by hand: RFC 6455 section 5.2. */
function serverFrame(opcode: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode]), encodedLength(text.length), Buffer.from(text)]);
}

function encodedLength(length: number): Buffer {
  if (length < 126) return Buffer.from([length]);
  const isMiddling = length < 65_536;
  const bytes = Buffer.alloc(isMiddling ? 3 : 9);
  bytes[0] = isMiddling ? 126 : 127;
  bytes.writeUIntBE(length, isMiddling ? 1 : 3, isMiddling ? 2 : 6);
  return bytes;
}

test('the handshake carries its headers and accepts the matching answer, in pieces too', () => {
  const request = handshakeRequest('/stream', { Authorization: 'Bearer t' });
  expect(request).toMatch(/^GET \/stream HTTP\/1\.1\r\n[\s\S]*\r\nAuthorization: Bearer t\r\n\r\n$/);
  expect(findFrames(Buffer.from(`${accepting}\r\n`))).toBeUndefined();
  expect(findFrames(Buffer.from(`${accepting}\r\n\r\nrest`))).toBe(accepting.length + 4);
  expect(() => findFrames(Buffer.from('HTTP/1.1 401 Unauthorized\r\n\r\n'))).toThrow('401 Unauthorized');
  expect(() => findFrames(Buffer.from(`${accepting.replace('s3p', 'S3P')}\r\n\r\n`))).toThrow('wrong');
});

test('frames of every length are read whole, wherever their bytes are cut', () => {
  const texts = ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(65_535), 'e'.repeat(65_536)];
  const bytes = Buffer.concat(texts.map((text) => serverFrame(opcodes.text, text)));
  for (const size of [1_000, 65_536, bytes.length]) {
    const seen: string[] = [];
    let rest: Buffer = Buffer.alloc(0);
    for (let at = 0; at < bytes.length; at += size) {
      const chunk = Buffer.concat([rest, bytes.subarray(at, at + size)]);
      rest = readFrames(chunk, (opcode, payload) => seen.push(`${opcode}:${payload}`));
    }
    expect(rest).toHaveLength(0);
    expect(seen).toEqual(texts.map((text) => `1:${text}`));
  }
});

test('a frame header that is cut anywhere is kept for the next bytes', () => {
  const bytes = serverFrame(opcodes.close, 'x'.repeat(200));
  for (let cut = 0; cut < 5; cut += 1) {
    const seen: number[] = [];
    const rest = readFrames(bytes.subarray(0, cut), (opcode) => seen.push(opcode));
    expect(rest).toHaveLength(cut);
    expect(readFrames(Buffer.concat([rest, bytes.subarray(cut)]), (opcode) => seen.push(opcode))).toHaveLength(0);
    expect(seen).toEqual([opcodes.close]);
  }
});

test('a frame of the client is masked, and refuses a payload that does not fit', () => {
  expect([...clientFrame(opcodes.pong, 'hi')]).toEqual([0x8a, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
  expect([...clientFrame(opcodes.text, 'x'.repeat(300))].slice(0, 9)).toEqual([0x81, 0xfe, 1, 44, 0, 0, 0, 0, 0x78]);
  expect(() => clientFrame(opcodes.text, 'x'.repeat(65_536))).toThrow(RangeError);
});
