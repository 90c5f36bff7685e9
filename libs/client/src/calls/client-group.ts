import type { Events, SessionInfo, SignedOutReason } from '../events.ts';
import { groupReactions } from '../generated/group-reactions.ts';
import type { MethodTable } from '../generated/methods.ts';
import { type Operation, takesBody } from '../generated/operations.ts';
import { addReactions } from '../http/auth-error.ts';
import type { Platform } from '../platform/platform.ts';
import type { Exclusive } from '../session/exclusive.ts';
import type { SessionManager } from '../session/session-manager.ts';
import type { Call } from './call.ts';
import type { DeviceId } from './device-id.ts';
import type { LogInWith } from './log-in.ts';

export interface ClientGroupDeps {
  readonly platform: Pick<Platform, 'now' | 'storage' | 'timers'>;
  readonly prefix: string;
  readonly exclusive: Exclusive;
  readonly events: Events;
  readonly deviceId: DeviceId;
  readonly call: Call;
  readonly sessionManager: SessionManager;
  /** For a group that adds a sign-in method. */
  readonly logInWith: LogInWith;
  /** Replaces `logInWith`, which is every sign-in method, by a function that does more. */
  readonly wrapLogIn: (wrap: (logInWith: LogInWith) => LogInWith) => void;
}

/**
 * Creates operations that an app adds to its client only if it uses them. Other apps do not have them in their bundle.
 */
export type ClientGroup<T extends object> = (deps: ClientGroupDeps) => T;

/**
 * Creates the plain methods of a table. Each takes the parameters of the path, then the body, and returns the data. The
 * errors of the client have the reactions to these methods' codes from then on.
 */
export function methodsOf<M extends object>(table: MethodTable<M>, call: Call): M {
  addReactions(groupReactions);
  const made = Object.entries<Operation | MethodTable>(table).map(([name, entry]) => [
    name,
    isOperation(entry) ? methodOf(entry, call) : methodsOf(entry, call),
  ]);
  return Object.fromEntries(made) as M;
}

function isOperation(entry: Operation | MethodTable): entry is Operation {
  return Array.isArray(entry);
}

function methodOf(operation: Operation, call: Call) {
  const [, , path, takes] = operation;
  const count = path.split('{').length - 1;
  return (...input: unknown[]) =>
    call(operation, {
      params: input.slice(0, count) as string[],
      body: takes & takesBody ? ((input[count] ?? {}) as object) : undefined,
    });
}

/**
 * Does work that ends the present session in the service, then ends that session here too. A newer session that has
 * replaced it is kept.
 */
export async function endWith<T>(
  sessionManager: SessionManager,
  reason: SignedOutReason,
  work: () => Promise<T>,
): Promise<T> {
  const { era } = await sessionManager.load();
  const data = await work();
  if ((await sessionManager.load()).era === era) await sessionManager.end(reason, false);
  return data;
}

export function sessionOf(sessionManager: SessionManager): SessionInfo | undefined {
  const state = sessionManager.state();
  return state.status === 'signed_in' ? state.session : undefined;
}

/**
 * Gets a token with the newest claims of the session. If there is no answer, the next call whose token is refused gets such
 * a token.
 */
export async function renewClaims(sessionManager: SessionManager): Promise<void> {
  const { token } = await sessionManager.access();
  await sessionManager.renew(token).catch(() => undefined);
}
