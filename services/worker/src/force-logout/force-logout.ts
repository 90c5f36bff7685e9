import type { ForceLogoutCommand } from '@auth-account/contracts';
import type { ForceLogoutResult } from '@auth-account/messaging';
import type { DenyEntry, DenyList } from '@auth-account/messaging/deny-list';
import type {
  IdempotencyStore,
  OwnedSession,
  Revocation,
  RunTransaction,
  SessionStore,
  UserStore,
} from '@auth-account/stores';
import type { ClientSession } from 'mongodb';

export interface ForceLogoutDeps {
  readonly users: Pick<UserStore, 'touchSessions' | 'touchGroupSessions' | 'listGroup'>;
  readonly sessions: Pick<SessionStore, 'find' | 'findLive' | 'revokeAll' | 'revokeOfUsers' | 'holdOf'>;
  /** Remembers which commands have taken effect. */
  readonly done: IdempotencyStore;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  /** Called for each session that was revoked, after the commit. */
  readonly onRevoked: (session: OwnedSession, requestId: string) => void;
  readonly now: () => Date;
}

/** The remembered effect of a command. */
interface Effect {
  readonly sessionIds: readonly string[];
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
}

/** Milliseconds for which a command is remembered. */
const memoryMs = 7 * 24 * 60 * 60_000;

/** Limit for the sessions that are denied at once. */
const pageSize = 500;

/**
 * Carries out a forced logout (docs/specification/logout.md, "Forced logouts"). It revokes the sessions and remembers
 * the command in one transaction, then denies the sessions and closes their streams (4001). The trust in the devices
 * ends with them: for a user or a group, in all of their devices. For a user or a group the transaction also writes the
 * users' documents, as every login does, so that no login can happen in between.
 *
 * If a command with the same id was carried out before, its sessions are only denied and closed again. Sessions that
 * began since are not ended. Rejects if MongoDB or Redis stays away. The reconciliation also finds revocations that
 * were committed and not announced.
 */
export function createForceLogout(deps: ForceLogoutDeps) {
  const { sessions, done, transaction, denyList, onRevoked, now } = deps;

  async function revoke(command: ForceLogoutCommand, commandId: string, recordId: string): Promise<Effect> {
    const at = now();
    const requestId = command.request_id ?? commandId;
    const work = async (session: ClientSession) => {
      const live = await end(deps, command, { reason: 'forced', at, requestId }, session);
      const sessionIds = live.map(({ _id }) => _id);
      const effect: Effect = { sessionIds, requestId, decidedAt: at.getTime() };
      const record = { _id: recordId, fingerprint: recordId, answer: effect };
      await done.insert([{ ...record, expires_at: new Date(at.getTime() + memoryMs) }], session);
      return { live, effect };
    };
    const isCommitted = async () => (await done.find([recordId])) !== undefined;
    const hold = sessions.holdOf(() => listHeld(deps, command));
    const { live, effect } = await transaction(work, { isCommitted, hold });
    for (const session of live) onRevoked(session, requestId);
    return effect;
  }

  async function denyAndClose({ sessionIds, requestId, decidedAt }: Effect): Promise<void> {
    const denial = { kind: 'revoked', reason: 'SESSION_REVOKED' } as const;
    const entries = sessionIds.map((sessionId): DenyEntry => ({ sessionId, denial, requestId, decidedAt }));
    for (let at = 0; at < entries.length; at += pageSize) await denyList.denyAndClose(entries.slice(at, at + pageSize));
  }

  return async (command: ForceLogoutCommand, commandId: string): Promise<ForceLogoutResult> => {
    // The target is part of the record's id, so that no forced logout is lost if a command's id is used twice by
    // mistake.
    const recordId = `force-logout/${commandId}/${targetOf(command).join('/')}`;
    const earlier = (await done.find([recordId]))?.answer as Effect | undefined;
    const effect = earlier ?? (await revoke(command, commandId, recordId));
    await denyAndClose(effect);
    return { kind: earlier ? 'repeated' : 'done', sessions: effect.sessionIds.length };
  };
}

function targetOf(command: ForceLogoutCommand): [kind: 'user' | 'session' | 'group', id: string] {
  // Ids are stored in lower case, and a client may send a UUID in any case.
  if ('user_id' in command) return ['user', command.user_id.toLowerCase()];
  if ('session_id' in command) return ['session', command.session_id.toLowerCase()];
  return ['group', command.home_group_id.toLowerCase()];
}

/** Returns the users whose sessions the command may end. */
async function listHeld({ users, sessions }: ForceLogoutDeps, command: ForceLogoutCommand): Promise<string[]> {
  const [kind, id] = targetOf(command);
  if (kind === 'user') return [id];
  if (kind === 'group') return (await users.listGroup(id)).map(({ _id }) => _id);
  const session = await sessions.find(id);
  return session === undefined ? [] : [session.user_id];
}

/** Revokes the command's sessions, and returns them. */
async function end(
  { users, sessions }: ForceLogoutDeps,
  command: ForceLogoutCommand,
  revocation: Revocation,
  session: ClientSession,
): Promise<OwnedSession[]> {
  const [kind, id] = targetOf(command);
  const { at } = revocation;
  if (kind === 'session') {
    const live = await sessions.findLive(id, session);
    await sessions.revokeAll([id], revocation, session);
    return live === undefined ? [] : [live];
  }
  if (kind === 'group') {
    return sessions.revokeOfUsers(await users.touchGroupSessions(id, at, session), revocation, session);
  }
  return (await users.touchSessions(id, at, session)) ? sessions.revokeOfUsers([id], revocation, session) : [];
}
