import type { ForceLogoutCommand } from '@auth-account/contracts';
import { listForceLogouts } from '@auth-account/messaging';
import type { RevocationReason, SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { withQueue } from '../commands/forced-logouts.ts';
import type { Mongo, RedisStore, Use } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { newestPage, pageSize, timeOf } from './pages.ts';

/** Fields of a session that staff may see, or see whether they are there. */
const projection = {
  device_id: 1,
  device_name: 1,
  platform: 1,
  auth: 1,
  'cnf.jkt': 1,
  created_at: 1,
  created_request_id: 1,
  last_used_at: 1,
  expires_at: 1,
  revoked_at: 1,
  revoked_reason: 1,
  revoked_request_id: 1,
  revoked_by: 1,
  revoked_notice: 1,
} as const;

export type SeenSession = Pick<SessionDocument, '_id' | 'cnf' | Exclude<keyof typeof projection, 'cnf.jkt'>>;
/** A session with the time of its end. */
type EndedSession = SeenSession & { readonly at: Date };

export interface SessionsContext extends Pick<Mongo, 'collections' | 'now'> {
  readonly useRedis: Use<RedisStore>;
}

/** Returns the account's sessions that nothing has ended. Some may have expired. The limit of sessions bounds them. */
export function readUnrevoked({ collections }: Pick<Mongo, 'collections'>, userId: string): Promise<SeenSession[]> {
  return collections.sessions.find<SeenSession>({ user_id: userId, is_revoked: false }, { projection }).toArray();
}

/** Returns a session as staff see it. */
export function describeSession(session: SeenSession) {
  return {
    session_id: session._id,
    device_id: session.device_id,
    device_name: session.device_name,
    platform: session.platform,
    methods: session.auth?.amr ?? [],
    is_bound: session.cnf !== undefined,
    created_at: session.created_at,
    created_request_id: session.created_request_id ?? null,
    last_used_at: session.last_used_at,
  };
}

/**
 * Lists the account's sessions that have ended, the latest end first, with everything that explains each end. Sessions
 * that expired are among them. Throws an `OperationError` of the kind `invalid` for a wrong cursor.
 */
export async function listEnded(
  context: SessionsContext,
  user: Pick<UserDocument, '_id' | 'disabled_at' | 'disabled_by' | 'disabled_reason'>,
  unrevoked: readonly SeenSession[],
  after?: string,
) {
  const before = timeOf(after);
  const revoked = await readRevoked(context, user._id, before);
  const now = context.now();
  const expired = unrevoked.filter(
    ({ expires_at }) => expires_at <= now && (before === undefined || expires_at < before),
  );
  const all = [...revoked.sessions, ...expired].map((session) => ({ ...session, at: endOf(session) }));
  // Nothing older than the last revoked one that was read, because further ones of that age may not have been read.
  const page = newestPage(
    all.filter(({ at }) => at >= revoked.completeSince),
    revoked.hasMore,
  );
  const known = await readExplanations(context, user._id, page.items, unrevoked);
  return { items: page.items.map((session) => describeEnd(session, user, known)), next: page.next };
}

const endOf = ({ revoked_at, expires_at }: SeenSession): Date => revoked_at ?? expires_at;

/**
 * Reads a page of revoked sessions, and all that ended at the same moment as the last of them: together, as by a change
 * of the password. The index has no order among those.
 */
export async function readRevoked(
  { collections: { sessions } }: Pick<Mongo, 'collections'>,
  userId: string,
  before: Date | undefined,
  limit = pageSize,
): Promise<{ sessions: SeenSession[]; completeSince: Date; hasMore: boolean }> {
  const own = { user_id: userId, is_revoked: true };
  const found = await sessions
    .find<SeenSession>({ ...own, ...(before && { revoked_at: { $lt: before } }) }, { projection })
    .sort({ revoked_at: -1 })
    .limit(limit + 1)
    .toArray();
  const last = found[limit - 1]?.revoked_at;
  if (found.length <= limit || last === undefined)
    return { sessions: found, completeSince: new Date(0), hasMore: false };
  const later = found.filter(({ revoked_at = last }) => revoked_at > last);
  const together = await sessions.find<SeenSession>({ ...own, revoked_at: last }, { projection }).toArray();
  return { sessions: [...later, ...together], completeSince: last, hasMore: true };
}

/** Everything outside the sessions that explains their ends. */
interface Explanations {
  readonly enders: readonly Pick<SessionDocument, '_id' | 'device_name' | 'platform'>[];
  readonly successors: readonly Pick<SessionDocument, '_id' | 'device_id' | 'created_request_id'>[];
  readonly commands: readonly ForceLogoutCommand[];
}

async function readExplanations(
  { collections: { sessions }, useRedis }: SessionsContext,
  userId: string,
  ended: readonly EndedSession[],
  unrevoked: readonly SeenSession[],
): Promise<Explanations> {
  const replaced = ended.filter(({ revoked_reason }) => revoked_reason === 'replaced');
  const successors = {
    user_id: userId,
    is_revoked: true,
    // A session that replaces another one ends after it.
    revoked_at: { $gte: new Date(Math.min(...replaced.map(({ at }) => at.getTime()))) },
    created_request_id: { $in: replaced.flatMap(({ revoked_request_id }) => revoked_request_id ?? []) },
  };
  const isForced = ended.some(({ revoked_reason }) => revoked_reason === 'forced');
  const enders = [...new Set(ended.flatMap(({ revoked_by }) => revoked_by ?? []))];
  const [devices, later, commands] = await Promise.all([
    enders.length === 0 ? [] : sessions.find<SeenSession>({ _id: { $in: enders } }, { projection }).toArray(),
    replaced.length === 0 ? [] : sessions.find<SeenSession>(successors, { projection }).limit(pageSize).toArray(),
    isForced ? readCommands(useRedis) : [],
  ]);
  return { enders: devices, successors: [...unrevoked, ...later], commands };
}

/** Limit for the forced logouts that are searched, the newest first. They are kept for seven days. */
const commandsRead = 1_000;

async function readCommands(useRedis: SessionsContext['useRedis']): Promise<ForceLogoutCommand[]> {
  try {
    const done = await useRedis((store) => withQueue(store, (queue) => listForceLogouts(queue, 'done', commandsRead)));
    return done.flatMap(({ command }) => command ?? []);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    // The end itself is known without Redis, and only the operator's words are missing.
    return [];
  }
}

function describeEnd(
  session: EndedSession,
  user: Parameters<typeof listEnded>[1],
  { enders, successors, commands }: Explanations,
) {
  const { revoked_reason, revoked_request_id, revoked_by, revoked_notice, device_id } = session;
  const reason: RevocationReason | 'expired' =
    session.revoked_at === undefined ? 'expired' : (revoked_reason ?? 'forced');
  const ender = enders.find(({ _id }) => _id === revoked_by);
  const successor = successors.find(
    (other) => other.created_request_id === revoked_request_id && other.device_id === device_id,
  );
  return {
    ...describeSession(session),
    ended_at: session.at,
    reason,
    request_id: revoked_request_id ?? null,
    by_device: ender ? { session_id: ender._id, device_name: ender.device_name, platform: ender.platform } : null,
    notice: revoked_notice ?? null,
    operator: operatorOf(session, user, commands),
    replaced_by: reason === 'replaced' ? (successor?._id ?? null) : null,
  };
}

/** Returns who ended the session for the account's holder, and why, as far as it is still known. */
function operatorOf(
  { revoked_reason, revoked_request_id, at }: EndedSession,
  { disabled_at, disabled_by, disabled_reason }: Parameters<typeof listEnded>[1],
  commands: readonly ForceLogoutCommand[],
) {
  if (revoked_reason === 'forced') {
    const command = commands.find(({ request_id }) => request_id === revoked_request_id);
    return command === undefined ? null : { name: null, reason: command.reason };
  }
  // If the times differ, the account was enabled and disabled again since.
  const isByThis = revoked_reason === 'account_disabled' && disabled_at?.getTime() === at.getTime();
  return isByThis ? { name: disabled_by ?? null, reason: disabled_reason ?? null } : null;
}
