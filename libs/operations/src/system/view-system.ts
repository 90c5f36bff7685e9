import { forceLogoutQueue } from '@auth-account/contracts';
import { channelOf, eventChannels } from '@auth-account/contracts/events';
import { openEventQueue, subscriberQueueName } from '@auth-account/messaging';
import { createDenyList } from '@auth-account/messaging/deny-list';
import { type ProcessReport, type ReportedKeys, readProcessReports } from '@auth-account/messaging/process-reports';
import type { SubscriberDocument } from '@auth-account/stores/documents';
import type { Mongo, RedisStore, Use } from '../context.ts';
import { examine } from '../doctor/examine.ts';
import { listSubscribers } from '../events/subscribers.ts';
import { toOperationError } from '../operation-error.ts';
import { type MetricsSources, readMetrics } from './read-metrics.ts';

export interface SystemContext {
  readonly useMongo: Use<Mongo>;
  readonly useRedis: Use<RedisStore>;
  readonly metrics: MetricsSources;
  readonly now: () => Date;
}

/** Limit for the number of waiting events that are counted. */
const backlogCounted = 100_000;

/**
 * Returns the state of the whole system. A source that does not answer is in `gaps`, with its reason. Rejects only with
 * a bug. It has no secret: of a key only the id.
 */
export async function viewSystem({ useMongo, useRedis, metrics, now }: SystemContext) {
  const gaps: string[] = [];
  async function from<T>(source: string, read: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await read;
    } catch (error) {
      const known = toOperationError(error);
      if (known === undefined) throw error;
      gaps.push(`${source}: ${known.message}`);
      return otherwise;
    }
  }
  const read_at = now();
  const known = from(
    'subscribers',
    useMongo(({ stores }) => stores.subscribers.list()),
    [] as SubscriberDocument[],
  );
  const [examined, reports, backlog, queues, subscribers, deny_list, measured] = await Promise.all([
    from('checks', examine({ useMongo, useRedis, others: [] }), { ok: false, checks: [] }),
    from(
      'processes',
      useRedis(({ redis, keys }) => readProcessReports(redis, keys)),
      [],
    ),
    from(
      'outbox',
      useMongo(({ stores }) => stores.outbox.backlog(backlogCounted)),
      undefined,
    ),
    known.then((all) =>
      from(
        'queues',
        useRedis((store) => countQueues(store, all)),
        [],
      ),
    ),
    from('dead letters', readSubscribers({ useMongo }), []),
    from('deny list', useRedis<DenyListState>(readDenyList), { is_complete: null, entries: null }),
    readMetrics(metrics),
  ]);
  const waited = backlog?.oldest === undefined ? null : (read_at.getTime() - backlog.oldest.getTime()) / 1_000;
  return {
    read_at,
    checks: examined.checks.map(({ check, status, detail, fix = null }) => ({ check, status, detail, fix })),
    processes: reports.map(describeProcess),
    outbox: { waiting: backlog?.depth ?? null, oldest_seconds: waited },
    queues,
    subscribers,
    deny_list,
    streams: measured.streams,
    limits: measured.limits,
    keys: keysOf(reports),
    gaps: [...gaps, ...measured.gaps],
  };
}

/** Returns every subscriber, with the number of its dead letters. Rejects with the errors of `useMongo`. */
export async function readSubscribers({ useMongo }: Pick<SystemContext, 'useMongo'>) {
  const { subscribers } = await useMongo(({ stores }) => listSubscribers(stores));
  return subscribers.map(({ name, configured, parked_at, parked_by_event, dead_letters }) => {
    return { name, configured, suspended_at: parked_at, suspended_by: parked_by_event, dead_letters };
  });
}

interface DenyListState {
  readonly is_complete: boolean | null;
  readonly entries: number | null;
}

async function readDenyList({ redis, keys }: RedisStore): Promise<DenyListState> {
  // The lifetime of entries (1) does not matter, because only writes use it.
  const [is_complete, entries] = await Promise.all([
    createDenyList(redis, keys, 1).isComplete(),
    redis.zcard(keys.revocations),
  ]);
  return { is_complete, entries };
}

/** Counts the jobs of forced logouts and of each subscriber that is configured. */
async function countQueues({ redis, keys }: RedisStore, subscribers: readonly SubscriberDocument[]) {
  const events = subscribers.flatMap(({ _id, configured_at, topics }) => {
    if (configured_at === undefined) return [];
    const channels = topics === undefined ? eventChannels : new Set(topics.map(channelOf));
    return [...channels].map((channel) => subscriberQueueName(channel, _id));
  });
  const counted = [forceLogoutQueue, ...events.sort()].map(async (name) => {
    const queue = openEventQueue(name, redis, keys);
    // Errors are ignored here, because the call itself reports them.
    queue.on('error', () => undefined);
    try {
      const counts = await queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed');
      const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { name, waiting: wait + prioritized, active, delayed, failed };
    } finally {
      await queue.close();
    }
  });
  return Promise.all(counted);
}

/** Describes a running process, with the settings on which all must agree. */
function describeProcess({ process, version, generation, ahead_ms, rules, refused_by, ...report }: ProcessReport) {
  const { issuer, audience, token_seconds } = report;
  const settings: Readonly<Record<string, string | number | undefined>> = {
    issuer,
    audience,
    token_seconds: token_seconds?.signs,
    longest_token_seconds: token_seconds?.takes,
    requires_verified_email: rules && String(rules.verified_email),
    wrong_passwords_a_day: rules?.wrong_passwords_a_day,
    ...Object.fromEntries(Object.entries(refused_by ?? {}).map(([name, { fault }]) => [`refused_by_${name}`, fault])),
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    process,
    version: version ?? null,
    generation: generation ?? null,
    clock_ahead_ms: ahead_ms.host,
    settings: Object.fromEntries(known) as Record<string, string | number>,
  };
}

/** Returns each key with the processes that sign with it and those that accept it. */
function keysOf(reports: readonly ProcessReport[]) {
  const held = reports.flatMap(({ process, keys }) =>
    (Object.entries(keys) as ['access' | 'refresh' | 'server', ReportedKeys][]).flatMap(([kind, { signs, takes }]) =>
      takes.map((kid) => ({ kind, kid, process, isSigner: kid === signs })),
    ),
  );
  return [...Map.groupBy(held, ({ kind, kid }) => `${kind} ${kid}`).values()].flatMap((holders) => {
    const [first] = holders;
    if (first === undefined) return [];
    const signs = holders.filter(({ isSigner }) => isSigner).map(({ process }) => process);
    return [{ kind: first.kind, kid: first.kid, signs, accepts: holders.map(({ process }) => process) }];
  });
}
