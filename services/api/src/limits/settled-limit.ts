import { LRUCache } from 'lru-cache';
import { createRequestLimit, type RequestLimit, type RequestLimitOptions } from './request-limit.ts';

/** Limit that counts a part of the requests in the process first, and adds the counts to Redis in the background. */
export interface SettledLimit extends Pick<RequestLimit, 'count'> {
  /** Counts in Redis all requests that are not counted there yet. Never rejects. */
  settle(): Promise<void>;
}

/**
 * Limit for the networks whose requests wait to be counted in Redis. Requests of further networks are counted at once.
 */
const maxWaiting = 10_000;
/** Limit for the busy networks that a process remembers. */
const rememberedBusy = 10_000;
const keysInScript = 256;

/**
 * KEYS: counters as rate-limiter-flexible keeps them. ARGV: 1 length of the window in ms, then the number to add to
 * each counter. Returns for each counter its count and the milliseconds until its window ends.
 */
const settleScript = `
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i * 2 - 1] = redis.call('INCRBY', key, ARGV[i + 1])
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[1]) end
  counts[i * 2] = redis.call('PTTL', key)
end
return counts`;

type SettleScript = (keyCount: number, ...args: (string | number)[]) => Promise<number[]>;

export interface SettledLimitOptions extends RequestLimitOptions {
  /** Milliseconds for which a request may wait to be counted in Redis. */
  readonly settleMs?: number;
}

/**
 * Creates a limit by network for cheap and frequent requests, so that few of them wait for Redis. Each process admits
 * up to 1 % of the limit from a network without asking Redis. It adds them to the counts in Redis a second later, for
 * all networks in one command. Further requests, and all requests of a network that has used half of the limit, are
 * counted at once. So each process can exceed the limit by 1 % at most. Limits below 1,000 requests are exact.
 */
export function createSettledLimit({ settleMs = 1_000, ...options }: SettledLimitOptions): SettledLimit {
  const { points } = options;
  const exact = createRequestLimit(options);
  const settleCounts = createSettleCounts(options, exact);
  const share = Math.floor(points / 1_000) * 10;
  // Created when it is first needed, because it allocates the memory of all its keys at once.
  let busy: LRUCache<string, true> | undefined;
  let waiting = new Map<string, number>();
  let underWay = new Map<string, number>();
  let settling = Promise.resolve();
  let isSettlingLater = false;

  async function settleWaiting(): Promise<void> {
    underWay = waiting;
    waiting = new Map();
    const counts = [...underWay];
    for (let start = 0; start < counts.length; start += keysInScript) {
      for (const { who, count, endsInMs } of await settleCounts(counts.slice(start, start + keysInScript))) {
        if (count < points / 2) continue;
        busy ??= new LRUCache({ max: rememberedBusy });
        busy.set(who, true, { ttl: Math.max(1, endsInMs) });
      }
    }
    underWay = new Map();
  }

  /** Settles after any earlier call has ended, so that a slow Redis does not get two commands at once. */
  function settle(): Promise<void> {
    settling = settling.then(settleWaiting);
    return settling;
  }

  function settleLater(): void {
    if (isSettlingLater) return;
    isSettlingLater = true;
    setTimeout(() => {
      void settle().then(() => {
        isSettlingLater = false;
        if (waiting.size > 0) settleLater();
      });
    }, settleMs).unref();
  }

  function mayWait(who: string): boolean {
    if (share === 0 || exact.refusedFor(who) > 0 || busy?.has(who)) return false;
    const count = (waiting.get(who) ?? 0) + (underWay.get(who) ?? 0);
    return count < share && (count > 0 || waiting.size < maxWaiting);
  }

  return {
    settle,
    async count(who, weight = 1) {
      if (!mayWait(who)) return exact.count(who, weight);
      waiting.set(who, (waiting.get(who) ?? 0) + weight);
      settleLater();
      return;
    },
  };
}

/** Count of a network in its present window. */
interface Counted {
  readonly who: string;
  readonly count: number;
  readonly endsInMs: number;
}

/**
 * Counts several networks in one command. If Redis is away or slow, it counts them in this process, because the command
 * may have been carried out, and a second command would count twice.
 */
function createSettleCounts({ redis, seconds }: RequestLimitOptions, exact: RequestLimit) {
  redis.defineCommand('settleCounts', { lua: settleScript });
  const script = (redis as unknown as { settleCounts: SettleScript }).settleCounts.bind(redis);
  return async (counts: readonly (readonly [who: string, count: number])[]): Promise<Counted[]> => {
    const keys = counts.map(([who]) => exact.keyOf(who));
    try {
      const counted = await script(keys.length, ...keys, seconds * 1_000, ...counts.map(([, count]) => count));
      return counts.map(([who], i) => ({
        who,
        count: counted[i * 2] ?? 0,
        endsInMs: counted[i * 2 + 1] ?? 0,
      }));
    } catch {
      return counts.map(([who, count]) => ({ who, ...exact.countHere(who, count) }));
    }
  };
}
