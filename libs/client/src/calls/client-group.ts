import type { SessionInfo, SignedOutReason } from '../events.ts';
import type { Operations } from '../generated/operations.ts';
import type { Platform } from '../platform/platform.ts';
import type { Keeper } from '../session/keeper.ts';
import type { Call } from './call.ts';

export interface ClientGroupDeps {
  readonly platform: Pick<Platform, 'randomUUID' | 'now'>;
  readonly call: Call;
  readonly keeper: Keeper;
  readonly deviceId: () => Promise<string>;
}

/** Operations that an app adds to its client if it calls them: no other app carries them. */
export interface ClientGroup<T extends object> {
  readonly operations: Operations;
  readonly create: (deps: ClientGroupDeps) => T;
}

/** Does what ends the present session, and ends it here too; not one that has followed it meanwhile. */
export async function endWith<T>(keeper: Keeper, reason: SignedOutReason, work: () => Promise<T>): Promise<T> {
  const { era } = await keeper.load();
  const data = await work();
  if ((await keeper.load()).era === era) await keeper.end(reason, false);
  return data;
}

export function sessionOf(keeper: Keeper): SessionInfo | undefined {
  const state = keeper.state();
  return state.status === 'signed_in' ? state.session : undefined;
}
