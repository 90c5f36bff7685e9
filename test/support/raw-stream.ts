import { connect, type Socket } from 'node:net';
import { pushStreamPath } from '@auth-account/contracts';

/** Input of a handshake. */
export interface RawHandshake {
  readonly sessionId: string;
  readonly token: string;
}

/** A frame as received over the wire. */
export interface RawFrame {
  /** RFC 6455 section 5.2: 1 text, 8 close, 9 ping. */
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A push stream on a plain TCP socket: cheap, and the test sees every byte that the gateway sends. */
export interface RawStream {
  readonly socket: Socket;
  /** HTTP status of the answer; 0 if the connection ended before. */
  readonly status: Promise<number>;
  /** Resolves when the connection has ended, in whatever way. */
  readonly ended: Promise<void>;
}

/** Returns the request that opens a stream. */
export function handshakeText({ sessionId, token }: RawHandshake): string {
  const lines = [
    `GET ${pushStreamPath(sessionId)} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${token}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Connects to the gateway, and sends nothing. */
export function connectRaw(base: string): Socket {
  const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined); // its close event follows
  return socket;
}

/** Opens a stream that answers neither pings nor the close frame, so that the gateway ends the connection. */
export function openRawStream(
  base: string,
  handshake: RawHandshake,
  onFrame: (frame: RawFrame) => void = () => undefined,
): RawStream {
  const socket = connectRaw(base);
  const status = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  let rest: Buffer = Buffer.alloc(0);
  let isOpen = false;
  socket.write(handshakeText(handshake));
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isOpen) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      isOpen = true;
      status.resolve(Number(rest.toString('latin1', 9, 12)));
      rest = rest.subarray(end + 4);
    }
    rest = takeFrames(rest, onFrame);
  });
  socket.on('close', () => {
    status.resolve(0);
    ended.resolve();
  });
  return { socket, status: status.promise, ended: ended.promise };
}

/** Reads the server's frames, which are not masked, and at most 65,535 bytes long. Returns the incomplete rest. */
function takeFrames(bytes: Buffer, onFrame: (frame: RawFrame) => void): Buffer {
  let at = 0;
  while (bytes.length >= at + 2) {
    const isLong = (bytes.readUInt8(at + 1) & 0x7f) === 126;
    if (isLong && bytes.length < at + 4) break;
    const start = at + (isLong ? 4 : 2);
    const length = isLong ? bytes.readUInt16BE(at + 2) : bytes.readUInt8(at + 1);
    if (bytes.length < start + length) break;
    onFrame({ opcode: bytes.readUInt8(at) & 0x0f, payload: Buffer.from(bytes.subarray(start, start + length)) });
    at = start + length;
  }
  return bytes.subarray(at);
}
