import { randomUUID } from 'node:crypto';
import { publish, publishCommandOf, type RedisClient } from '../redis-client.ts';
import type { RedisKeys } from '../redis-keys.ts';
import { type DenyListValue, identityFunction, parseDenyListValue } from './deny-list-reader.ts';

/** An entry of the list, and the command that closes the session's stream. */
export interface WrittenDenial {
  readonly sessionId: string;
  readonly value: DenyListValue;
  readonly command: string;
}

/** Writes the list that `createDenyListReader` reads. */
export interface DenyListWriter {
  /**
   * Writes the entries and publishes their commands and `otherCommands`, all or nothing, in one round trip. An entry is
   * never weakened. If Redis has no memory for the entries, the call publishes the commands, marks the list as
   * incomplete, and rejects.
   */
  deny(denials: readonly WrittenDenial[], otherCommands: readonly string[]): Promise<void>;
  /** Returns each session's entry, in order, whether the list is complete or not. */
  peek(sessionIds: readonly string[]): Promise<(DenyListValue | undefined)[]>;
  /**
   * Begins a rebuild, and returns the function that marks the list as complete. That function returns false, and marks
   * nothing, if Redis was emptied, restarted or replaced since.
   */
  beginRebuild(): Promise<() => Promise<boolean>>;
}

/** Milliseconds after which a rebuild that never completed is forgotten. */
const rebuildLimitMs = 10 * 60_000;

/**
 * KEYS: revocations, then one denied key per entry. ARGV: publish command, channel, lifetime (ms), then session, value
 * and close command of each entry, then further close commands. A value "none…" is never replaced, and a version is
 * replaced only by a higher one. On a cluster the channel is on the keys' node, because keys and channel have the same
 * hash tag.
 */
const denyAndCloseScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ttl = tonumber(ARGV[3])
for i = 2, #KEYS do
  local at = 4 + (i - 2) * 3
  local value = ARGV[at + 1]
  local old = redis.call('GET', KEYS[i])
  if old and (string.sub(old, 1, 4) == 'none' or (string.sub(value, 1, 4) ~= 'none' and tonumber(old) > tonumber(value))) then
    value = old
  end
  redis.call('SET', KEYS[i], value, 'PX', ttl)
  redis.call('ZADD', KEYS[1], now, ARGV[at])
  redis.call(ARGV[1], ARGV[2], ARGV[at + 2])
end
for i = 4 + (#KEYS - 1) * 3, #ARGV do
  redis.call(ARGV[1], ARGV[2], ARGV[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ttl)
redis.call('PEXPIRE', KEYS[1], ttl)
return #KEYS - 1`;

/** KEYS: the rebuild's mark. ARGV: the mark's lifetime (ms). */
const beginScript = `${identityFunction}
redis.call('SET', KEYS[1], identity(), 'PX', ARGV[1])
return 1`;

/** KEYS: the rebuild's mark, the sentinel. Returns 1 if the mark still exists and names this server, otherwise 0. */
const completeScript = `${identityFunction}
local begun = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
if begun ~= identity() then return 0 end
redis.call('SET', KEYS[2], begun)
return 1`;

type Script = (keyCount: number, ...args: (string | number)[]) => Promise<number>;

/** Writes the list. `lifetimeMs`: milliseconds for which an entry is kept. */
export function createDenyListWriter(redis: RedisClient, keys: RedisKeys, lifetimeMs: number): DenyListWriter {
  redis.defineCommand('denyAndClose', { lua: denyAndCloseScript });
  redis.defineCommand('beginDenyList', { lua: beginScript });
  redis.defineCommand('completeDenyList', { lua: completeScript });
  const scripts = redis as unknown as Record<'denyAndClose' | 'beginDenyList' | 'completeDenyList', Script>;
  const publishCommand = publishCommandOf(redis);

  /** Marks the list as incomplete and closes the streams. A full Redis can still remove keys and publish. */
  async function distrust(commands: readonly string[]): Promise<void> {
    const closing = commands.map((command) => publish(redis, keys.commands, command));
    await Promise.all([redis.del(keys.denyListComplete), ...closing]);
  }

  return {
    async deny(denials, otherCommands) {
      const names = [keys.revocations, ...denials.map(({ sessionId }) => keys.denied(sessionId))];
      const entries = denials.flatMap(({ sessionId, value, command }) => [sessionId, encode(value), command]);
      const args = [publishCommand, keys.commands, lifetimeMs, ...entries, ...otherCommands];
      try {
        await scripts.denyAndClose(names.length, ...names, ...args);
      } catch (error) {
        if (isFull(error)) await distrust([...denials.map(({ command }) => command), ...otherCommands]);
        throw error;
      }
    },
    async peek(sessionIds) {
      return sessionIds.length === 0 ? [] : (await redis.mget(...sessionIds.map(keys.denied))).map(parseDenyListValue);
    },
    async beginRebuild() {
      const mark = keys.denyListRebuild(randomUUID());
      await scripts.beginDenyList(1, mark, rebuildLimitMs);
      return async () => (await scripts.completeDenyList(2, mark, keys.denyListComplete)) === 1;
    },
  };
}

/** Returns true if Redis refused to write because its memory is full (`noeviction`). */
function isFull(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('OOM ');
}

/** Encodes an entry as `parseDenyListValue` reads it. */
function encode(value: DenyListValue): string {
  return value.kind === 'revoked' ? `none:${value.word}` : String(value.ver);
}
