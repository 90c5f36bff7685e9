import { randomUUID } from 'node:crypto';
import type { CloseReason } from '@auth-account/contracts';
import type { Redis } from 'ioredis';
import { encodeCommand } from './commands.ts';
import type { RedisKeys } from './redis-keys.ts';
import { createServerIdentity } from './server-identity.ts';

/** What the deny list says of a session: revoked (and how its stream closes), or the smallest `ver` still good. */
export type Denial =
  | { readonly kind: 'revoked'; readonly reason: CloseReason }
  | { readonly kind: 'below'; readonly ver: number };

/** One change to be denied and told to the gateways. */
export interface DenyEntry {
  readonly sessionId: string;
  readonly denial: Denial;
  /** How the session's stream closes. */
  readonly reason: CloseReason;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
}

/** Redis cannot be asked, or its list is not known to be complete. It never means "allow". */
export class DenyListUnavailable extends Error {
  override readonly name = 'DenyListUnavailable';
}

/** Session → smallest claims version still good, in Redis (decisions, "Tokens"). MongoDB is the truth behind it. */
export interface DenyList {
  /** Writes the entries and publishes their close commands, in one round trip. An entry never loosens. */
  deny(entries: readonly DenyEntry[]): Promise<void>;
  /** What the list says of each session, in order. Throws `DenyListUnavailable`. */
  find(sessionIds: readonly string[]): Promise<(Denial | undefined)[]>;
  /** The sessions that the list, complete or not, has as revoked: for whoever is about to complete it. */
  findRevoked(sessionIds: readonly string[]): Promise<Set<string>>;
  /** Sessions denied since that time of Redis's clock (ms), and the time to ask from next. Throws `DenyListUnavailable`. */
  recent(since: number): Promise<{ readonly sessionIds: string[]; readonly until: number }>;
  isComplete(): Promise<boolean>;
  /** To be called before the first entry of a rebuild is read from MongoDB. */
  beginRebuild(): Promise<DenyListRebuild>;
}

/** A rebuild of the list from MongoDB, bound to the Redis server and the data that were there when it began. */
export interface DenyListRebuild {
  /**
   * Says that the list holds all that MongoDB does, of the server on which the rebuild began. False, and nothing said,
   * where Redis was emptied, started again or replaced since: another rebuild is due.
   */
  complete(): Promise<boolean>;
}

/**
 * KEYS: revocations, then one denied key per entry. ARGV: channel, lifetime (ms), then per entry: session, value, command.
 * "none…" stays, a version only rises.
 */
const denyScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ttl = tonumber(ARGV[2])
for i = 2, #KEYS do
  local at = 3 + (i - 2) * 3
  local value = ARGV[at + 1]
  local old = redis.call('GET', KEYS[i])
  if old and (string.sub(old, 1, 4) == 'none' or (string.sub(value, 1, 4) ~= 'none' and tonumber(old) > tonumber(value))) then
    value = old
  end
  redis.call('SET', KEYS[i], value, 'PX', ttl)
  redis.call('ZADD', KEYS[1], now, ARGV[at])
  redis.call('PUBLISH', ARGV[1], ARGV[at + 2])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ttl)
redis.call('PEXPIRE', KEYS[1], ttl)
return #KEYS - 1`;

/** KEYS: the rebuild's mark, the sentinel. ARGV: the run id of the server on which the rebuild began. */
const completeScript = `
if redis.call('DEL', KEYS[1]) == 0 or not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[1], 1, true) then
  return 0
end
redis.call('SET', KEYS[2], ARGV[1])
return 1`;

/** Milliseconds after which a rebuild that never ended is forgotten. */
const rebuildLimitMs = 10 * 60_000;

type DenyCommand = (keyCount: number, ...args: (string | number)[]) => Promise<number>;

/** Clocks of one Redis do not run backwards, but entries of one millisecond may come after its reading. */
const overlapMs = 1_000;

/** How long an entry is of use, in milliseconds: the token's lifetime, leeway, the stream's grace and a margin. */
export function denialLifetimeMs(accessTokenTtlSeconds: number): number {
  return (accessTokenTtlSeconds + 5 + 30 + 60) * 1_000;
}

/** The deny list over a connection that fails fast. `lifetimeMs`: see {@link denialLifetimeMs}. */
export function createDenyList(redis: Redis, keys: RedisKeys, lifetimeMs: number): DenyList {
  redis.defineCommand('denySessions', { lua: denyScript });
  const denySessions = (redis as unknown as { denySessions: DenyCommand }).denySessions.bind(redis);
  redis.defineCommand('completeDenyList', { lua: completeScript });
  const completeDenyList = (redis as unknown as { completeDenyList: DenyCommand }).completeDenyList.bind(redis);
  const identity = createServerIdentity(redis);

  async function ask<T>(work: (runId: string) => Promise<T>): Promise<T> {
    try {
      return await work(await identity());
    } catch (error) {
      if (error instanceof DenyListUnavailable) throw error;
      throw new DenyListUnavailable('Redis did not answer', { cause: error });
    }
  }

  return {
    async deny(entries) {
      if (entries.length === 0) return;
      const names = [keys.revocations, ...entries.map(({ sessionId }) => keys.denied(sessionId))];
      const values = entries.flatMap((entry) => [entry.sessionId, encodeDenial(entry.denial), closeCommand(entry)]);
      await denySessions(names.length, ...names, keys.commands, lifetimeMs, ...values);
    },
    find: (sessionIds) =>
      ask(async (runId) => {
        const [sentinel, ...values] = await redis.mget(keys.denyListComplete, ...sessionIds.map(keys.denied));
        if (sentinel !== runId) throw new DenyListUnavailable('the deny list is not complete');
        return values.map((value) => (value === null ? undefined : parseDenial(value)));
      }),
    async findRevoked(sessionIds) {
      if (sessionIds.length === 0) return new Set();
      const values = await redis.mget(...sessionIds.map(keys.denied));
      return new Set(sessionIds.filter((_, index) => values[index]?.startsWith('none:')));
    },
    recent: (since) =>
      ask(async (runId) => {
        const answers = await redis
          .multi()
          .get(keys.denyListComplete)
          .time()
          .zrangebyscore(keys.revocations, since - overlapMs, '+inf')
          .exec();
        const [sentinel, time, sessionIds] = (answers ?? []).map(([error, value]) => {
          if (error) throw error;
          return value;
        }) as [string | null, [string, string], string[]];
        if (sentinel !== runId) throw new DenyListUnavailable('the deny list is not complete');
        return { sessionIds, until: Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000) };
      }),
    async isComplete() {
      const runId = await identity();
      return (await redis.get(keys.denyListComplete)) === runId;
    },
    async beginRebuild() {
      const runId = await identity();
      const mark = keys.denyListRebuild(randomUUID());
      await redis.set(mark, runId, 'PX', rebuildLimitMs);
      return { complete: async () => (await completeDenyList(2, mark, keys.denyListComplete, runId)) === 1 };
    },
  };
}

function closeCommand({ sessionId, denial, reason, requestId, decidedAt }: DenyEntry): string {
  const below = denial.kind === 'below' ? { below: denial.ver } : {};
  const command = { session_id: sessionId, reason, ...below, request_id: requestId, decided_at: decidedAt };
  return encodeCommand({ type: 'close', ...command });
}

function encodeDenial(denial: Denial): string {
  return denial.kind === 'revoked' ? `none:${denial.reason}` : String(denial.ver);
}

function parseDenial(value: string): Denial {
  if (value.startsWith('none:')) return { kind: 'revoked', reason: value.slice('none:'.length) as CloseReason };
  return { kind: 'below', ver: Number(value) };
}
