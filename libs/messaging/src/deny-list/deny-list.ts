import { type CloseReason, closeCodes } from '@auth-account/contracts/push/close-codes';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import {
  createDenyListReader,
  type DenyListValue,
  overlapMs,
  parseDenyListValue,
} from '@auth-account/redis/deny-list-reader';
import { createDenyListWriter, type WrittenDenial } from '@auth-account/redis/deny-list-writer';
import { encodeCommand } from '../push/commands.ts';

/**
 * Content of an entry: for a revoked session the reason with which its stream closes, otherwise the smallest `ver` that
 * is still valid.
 */
export type Denial =
  | { readonly kind: 'revoked'; readonly reason: CloseReason }
  | { readonly kind: 'below'; readonly ver: number };

/**
 * Returns the reason for which the deny list closes a stream whose claims have this version; undefined if the claims
 * are still valid.
 */
export function closeReasonOf(denial: Denial | undefined, ver: number): CloseReason | undefined {
  if (denial === undefined) return undefined;
  if (denial.kind === 'revoked') return denial.reason;
  return ver < denial.ver ? 'GROUP_CHANGED' : undefined;
}

/** A session that is denied from now on, entirely or for claims below a version, and whose stream is closed. */
export interface DenyEntry {
  readonly sessionId: string;
  readonly denial: Denial;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** Another session whose stream the same logout closes, although that session is not denied. */
  readonly alsoClose?: string | undefined;
}

/**
 * Thrown if Redis does not answer, or if its list is not known to be complete. Callers must never treat it as "allow".
 */
export class DenyListUnavailable extends Error {
  override readonly name = 'DenyListUnavailable';
}

/**
 * Stores in Redis, for each denied session, the smallest claims version that is still valid
 * (docs/specification/login-and-tokens.md, "The deny list"). MongoDB is the source of truth.
 */
export interface DenyList {
  /**
   * Writes the entries and publishes their close commands to the gateways, all or nothing, in one round trip. An entry
   * is never weakened. A disconnected gateway misses the commands, but the entries stay stored. If Redis has no memory
   * for the entries, the call publishes the commands, marks the list as incomplete, and rejects.
   */
  denyAndClose(entries: readonly DenyEntry[]): Promise<void>;
  /** Returns each session's entry, in order. Throws `DenyListUnavailable`. */
  find(sessionIds: readonly string[]): Promise<(Denial | undefined)[]>;
  /**
   * Returns each session's entry, in order, even if the list is incomplete. For a caller that is about to complete the
   * list.
   */
  peek(sessionIds: readonly string[]): Promise<(Denial | undefined)[]>;
  /**
   * Returns the sessions denied since that time (in ms, by Redis's clock), and the time to pass to the next call.
   * Throws `DenyListUnavailable`.
   */
  recent(since: number): Promise<{ readonly sessionIds: string[]; readonly until: number }>;
  isComplete(): Promise<boolean>;
  /** Begins a rebuild. Must be called before the first entry is read from MongoDB. */
  beginRebuild(): Promise<DenyListRebuild>;
}

/**
 * A rebuild of the list from MongoDB. The rebuild is valid only on the Redis server where it began, and only while that
 * server keeps its data.
 */
export interface DenyListRebuild {
  /**
   * Marks the list as complete on the server on which the rebuild began. Returns false, and marks nothing, if Redis was
   * emptied, restarted or replaced since. Then another rebuild is needed.
   */
  complete(): Promise<boolean>;
}

/**
 * Returns for how many milliseconds an entry is needed: the longest lifetime of a token that any process accepts, plus
 * the leeway, the stream's grace period and a margin.
 */
export function denialLifetimeMs(maxTokenSeconds: number): number {
  return (maxTokenSeconds + 5 + 30 + 60) * 1_000;
}

/**
 * Opens the deny list over a connection that fails fast. `lifetimeMs`: see {@link denialLifetimeMs}. `find` trusts the
 * list only while `takesWrites` returns true, because a server that accepts no writes lacks the latest denials.
 */
export function createDenyList(
  redis: RedisClient,
  keys: RedisKeys,
  lifetimeMs: number,
  takesWrites = async () => true,
): DenyList {
  const reader = createDenyListReader(redis, keys);
  const writer = createDenyListWriter(redis, keys, lifetimeMs);

  async function ask<T>(work: () => Promise<T | undefined>): Promise<T> {
    const answer = await work().catch((error: unknown) => {
      throw new DenyListUnavailable('Redis did not answer', { cause: error });
    });
    if (answer === undefined) throw new DenyListUnavailable('the deny list is not complete');
    return answer;
  }

  return {
    async denyAndClose(entries) {
      if (entries.length === 0) return;
      const others = entries.flatMap((entry) =>
        entry.alsoClose === undefined ? [] : closeOther(entry.alsoClose, entry),
      );
      await writer.deny(entries.map(toWritten), others);
    },
    async find(sessionIds) {
      const values = await ask(async () => {
        const [found, isWritable] = await Promise.all([reader.find(sessionIds), takesWrites()]);
        return isWritable ? found : undefined;
      });
      return values.map((value) => toDenial(parseDenyListValue(value)));
    },
    async peek(sessionIds) {
      return (await writer.peek(sessionIds)).map(toDenial);
    },
    recent: (since) => ask(() => reader.recent(since - overlapMs)),
    async isComplete() {
      return (await reader.find([])) !== undefined;
    },
    async beginRebuild() {
      return { complete: await writer.beginRebuild() };
    },
  };
}

type Cause = Pick<DenyEntry, 'denial' | 'requestId' | 'decidedAt'>;

function closeCommand(session_id: string, { denial, requestId, decidedAt }: Cause): string {
  const how =
    denial.kind === 'revoked' ? { reason: denial.reason } : { reason: 'GROUP_CHANGED' as const, below: denial.ver };
  return encodeCommand({ type: 'close', session_id, ...how, request_id: requestId, decided_at: decidedAt });
}

/**
 * Only a logout closes another session's stream. That stream closes with the logout's reason, even if the session that
 * logs out had already ended for another reason.
 */
function closeOther(sessionId: string, cause: Cause): string {
  return closeCommand(sessionId, { ...cause, denial: { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } });
}

function toWritten(entry: DenyEntry): WrittenDenial {
  const { sessionId, denial } = entry;
  const value = denial.kind === 'revoked' ? ({ kind: 'revoked', word: denial.reason } as const) : denial;
  return { sessionId, value, command: closeCommand(sessionId, entry) };
}

function toDenial(value: DenyListValue | undefined): Denial | undefined {
  return value?.kind === 'revoked' ? { kind: 'revoked', reason: closeReasonIn(value.word) } : value;
}

/** A newer api may write a reason for which this gateway has no close code. Even so, the session has ended. */
function closeReasonIn(word: string): CloseReason {
  return Object.hasOwn(closeCodes, word) ? (word as CloseReason) : 'SESSION_REVOKED';
}
