export type { Body, Data } from './calls/call.ts';
export type { ClientGroup } from './calls/client-group.ts';
export type { Credentials } from './calls/log-in.ts';
export type { Registration } from './calls/register.ts';
export { type Added, type AuthClient, type AuthClientOptions, createAuthClient } from './create-auth-client.ts';
export type { AuthEvent, AuthListener, AuthState, NewDevice, SessionInfo, SignedOutReason } from './events.ts';
export type { ErrorCode, Reaction, Retry } from './generated/reactions.ts';
export { type AnyErrorCode, AuthError, type ClientErrorCode } from './http/auth-error.ts';
export type {
  AuthStorage,
  Channel,
  DeviceSignal,
  Locks,
  LogEntry,
  Platform,
  StreamSocket,
  Timers,
} from './platform/platform.ts';
