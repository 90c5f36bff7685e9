import { AuthFrame, type ClientFrame, PingFrame } from '@auth-account/contracts/push/frames';
import * as Type from '@auth-account/contracts/type';
import { Compile } from 'typebox/schema';
import { type Connection, closeConnection, sendFrame } from '../streams/connection.ts';

/** Limit for a client's frame, in bytes (docs/push.md, "Frames"). */
const maxFrameBytes = 16 * 1024;

const validator = Compile(Type.Union([PingFrame, AuthFrame]));

/**
 * Handles clients' frames. Binary frames, and text that is no frame of the contract, end the stream with
 * 1003. Frames over 16 KiB end it with 1009 (RFC 6455 section 7.4.1). Text that is not UTF-8 never arrives here,
 * because uWebSockets.js cuts the connection.
 */
export function createHandleFrame(reauthenticate: (connection: Connection, token: string) => Promise<void>) {
  return (connection: Connection, message: ArrayBuffer, isBinary: boolean): void => {
    if (message.byteLength > maxFrameBytes) {
      closeConnection(connection, 'MESSAGE_TOO_BIG');
      return;
    }
    // uWebSockets.js reuses the bytes after this returns, so they are parsed before anything is awaited.
    const frame = isBinary ? undefined : parseFrame(Buffer.from(message).toString());
    if (frame === undefined) closeConnection(connection, 'UNSUPPORTED_DATA');
    else if (frame.type === 'ping') sendFrame(connection, { type: 'pong' });
    else void reauthenticate(connection, frame.access_token);
  };
}

function parseFrame(text: string): ClientFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return validator.Check(value) ? value : undefined;
}
