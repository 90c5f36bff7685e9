import { randomBytes } from 'node:crypto';

/** The parts of a frame as in RFC 6455 section 5.2, correct or almost. */
export interface FrameParts {
  readonly opcode: number;
  readonly payload?: string | Buffer;
  readonly isFinal?: boolean;
  /** The three reserved bits. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** Number of extra bytes for the length; 0 if it is in the second byte. By default the shortest form. */
  readonly lengthBytes?: 0 | 2 | 8;
  /** The claimed length, if it differs from the real one. */
  readonly claimed?: bigint;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export function encodeFrame({
  opcode,
  payload = '',
  isFinal = true,
  reserved = 0,
  isMasked = true,
  lengthBytes,
  claimed,
}: FrameParts): Buffer {
  const bytes = Buffer.from(payload);
  const length = claimed ?? BigInt(bytes.length);
  const extended = lengthBytes ?? shortestEncoding(length);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const second = (isMasked ? 0x80 : 0) | { 0: Number(length), 2: 126, 8: 127 }[extended];
  const head = Buffer.alloc(2 + extended);
  head.writeUInt8(first, 0);
  head.writeUInt8(second, 1);
  if (extended === 2) head.writeUInt16BE(Number(length), 2);
  if (extended === 8) head.writeBigUInt64BE(length, 2);
  if (!isMasked) return Buffer.concat([head, bytes]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, bytes.map((byte, i) => byte ^ (mask[i % 4] ?? 0))]);
}

function shortestEncoding(length: bigint): 0 | 2 | 8 {
  if (length < 126n) return 0;
  return length < 65_536n ? 2 : 8;
}

/** Bytes that an open stream receives. */
export interface FrameAttack {
  readonly name: string;
  readonly bytes: Buffer;
}

export const ping = '{"type":"ping"}';

const closePayload = (code: number, reason: string | Buffer = ''): Buffer => {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, Buffer.from(reason)]);
};

const ended = (name: string, ...frames: readonly FrameParts[]): FrameAttack => ({
  name,
  bytes: Buffer.concat(frames.map(encodeFrame)),
});

/**
 * uWebSockets.js takes every frame for masked, and reads four more bytes as its mask. The bytes after that have
 * reserved bits, which end the stream, however the frame was read.
 */
const unmasked = (opcode: number): FrameAttack => ({
  name: `an unmasked frame of opcode ${opcode}`,
  bytes: Buffer.concat([encodeFrame({ opcode, payload: ping, isMasked: false }), Buffer.from('a'.repeat(200))]),
});

/** Returns one frame of each kind that no client may send (RFC 6455 sections 5.1 to 5.5, 7.4). */
export function frameAttacks(): FrameAttack[] {
  const { continuation, text, binary, close, ping: pingCode, pong } = opcodes;
  const badText = Buffer.from([0x22, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xff, 0x22]);
  return [
    ...[1, 2, 3, 4, 5, 6, 7].map((reserved) =>
      ended(`reserved bits ${reserved}`, { opcode: text, payload: ping, reserved }),
    ),
    ended('a compressed frame, which was not agreed on', {
      opcode: text,
      payload: Buffer.from('ab56', 'hex'),
      reserved: 4,
    }),
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => ended(`opcode ${opcode}`, { opcode, payload: ping })),
    ...[text, binary, close, pingCode, pong].map(unmasked),
    ...[close, pingCode, pong].flatMap((opcode) => [
      ended(`a control frame of opcode ${opcode} in fragments`, { opcode, isFinal: false, payload: 'a' }),
      ended(`a control frame of opcode ${opcode} and 126 bytes`, { opcode, payload: 'a'.repeat(126) }),
      ended(`a control frame of opcode ${opcode} and 70,000 bytes`, { opcode, payload: 'a'.repeat(70_000) }),
    ]),
    ended('a length of 8 bytes with its first bit set', { opcode: text, lengthBytes: 8, claimed: 2n ** 63n }),
    ended('a length of 2^64 - 1', { opcode: text, lengthBytes: 8, claimed: 2n ** 64n - 1n }),
    ended('a length of 4 GiB', { opcode: text, lengthBytes: 8, claimed: 2n ** 32n }),
    ended('a length of 1 MiB', { opcode: text, claimed: 2n ** 20n }),
    ended('a continuation of nothing', { opcode: continuation, payload: ping }),
    ended(
      'a new message within another',
      { opcode: text, payload: '{"ty', isFinal: false },
      { opcode: text, payload: ping },
    ),
    ended('a close frame with half a code', { opcode: close, payload: 'a' }),
    ...[0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2999, 5000, 65_535].map((code) =>
      ended(`a close frame with code ${code}`, { opcode: close, payload: closePayload(code) }),
    ),
    ended('a close frame whose reason is no UTF-8', { opcode: close, payload: closePayload(1000, badText) }),
    ended(
      'a close frame, and more behind it',
      { opcode: close, payload: closePayload(1000) },
      { opcode: text, payload: ping },
    ),
    ended('text that is no UTF-8', { opcode: text, payload: badText }),
    ended(
      'fragments of text that are no UTF-8',
      { opcode: text, payload: Buffer.from([0x22, 0xc3]), isFinal: false },
      { opcode: continuation, payload: '(' },
    ),
    ended('binary', { opcode: binary, payload: ping }),
    ended('no JSON', { opcode: text, payload: '{"type":"ping"' }),
    ended('an unknown frame', { opcode: text, payload: '{"type":"hello"}' }),
    ended('deep JSON', { opcode: text, payload: '['.repeat(16_000) }),
    ended('a frame with a prototype', { opcode: text, payload: '{"__proto__":{"type":"ping"}}' }),
    ended('an empty text', { opcode: text }),
    ended('a text of 17 KiB', { opcode: text, payload: 'a'.repeat(17 * 1024) }),
    ended('a text of 70 KiB', { opcode: text, payload: 'a'.repeat(70 * 1024) }),
    ended('a text of 2 MiB', { opcode: text, payload: 'a'.repeat(2 * 1024 * 1024) }),
    ended(
      'fragments of 1 KiB up to 128 KiB',
      { opcode: text, payload: 'a'.repeat(1_024), isFinal: false },
      ...Array.from({ length: 127 }, () => ({ opcode: continuation, payload: 'a'.repeat(1_024), isFinal: false })),
    ),
    ended(
      '100,000 fragments of one byte',
      { opcode: text, payload: 'a', isFinal: false },
      ...Array.from({ length: 100_000 }, () => ({ opcode: continuation, payload: 'a', isFinal: false })),
    ),
    { name: 'an HTTP request', bytes: Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n') },
    { name: 'noise', bytes: randomBytes(100_000) },
    { name: 'zeros', bytes: Buffer.alloc(100_000) },
  ];
}

/** Frames that look odd but are correct. The stream stays open, and the gateway sends this number of `pong`s. */
export interface OddFrames extends FrameAttack {
  readonly pongs: number;
}

export function oddFrames(): OddFrames[] {
  const { continuation, text, ping: pingCode, pong } = opcodes;
  const kept = (name: string, pongs: number, ...frames: readonly FrameParts[]): OddFrames => ({
    ...ended(name, ...frames),
    pongs,
  });
  const many = (count: number, frame: FrameParts) => Array.from({ length: count }, () => frame);
  return [
    kept(
      'a ping frame within a message',
      1,
      { opcode: text, payload: '{"type"', isFinal: false },
      { opcode: pingCode, payload: 'now' },
      { opcode: continuation, payload: ':"ping"}' },
    ),
    kept('a pong that nobody asked for', 0, { opcode: pong, payload: 'a'.repeat(125) }),
    kept(
      '20,000 empty fragments',
      1,
      { opcode: text, payload: ping, isFinal: false },
      ...many(20_000, { opcode: continuation, isFinal: false }),
      { opcode: continuation },
    ),
    kept('a length in more bytes than it needs', 1, { opcode: text, payload: ping, lengthBytes: 8 }),
    kept('20,000 pings', 0, ...many(20_000, { opcode: pingCode, payload: 'a'.repeat(125) })),
    kept('an access token of 16 KB, which is refused', 0, {
      opcode: text,
      payload: `{"type":"auth","access_token":"${'a'.repeat(16_000)}"}`,
    }),
  ];
}
