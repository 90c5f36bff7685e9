import { createServer } from 'node:http';
import { OperationError } from '@auth-account/operations';
import { shareWork, viewSystem } from '@auth-account/operations/system';
import type { DeadLetterDocument } from '@auth-account/stores/documents';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newSession } from '../../support/api/accounts.ts';
import { openParts } from '../../support/closing.ts';
import { listen } from '../../support/listen.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { newNotification } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
const { closing, closeAll } = openParts();
beforeAll(async () => {
  fixture = await openReadingFixture();
});
afterEach(closeAll);
afterAll(() => fixture.close());

/** Serves texts by path, and returns its URL. Paths that are not given are never answered. */
async function serve(texts: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const text = texts[url.split('?')[0] ?? ''] ?? texts[new URL(url, 'http://any').searchParams.get('query') ?? ''];
    if (text !== undefined) response.end(text);
  });
  return closing(await listen(server)).url;
}

const view = (metrics: Partial<Parameters<typeof viewSystem>[0]['metrics']> = {}, context = {}) =>
  viewSystem({ ...fixture.deps, ...context, metrics: { prometheusUrl: undefined, metricsUrls: [], ...metrics } });

test('the system is seen as a whole: processes, keys, queues, subscribers, outbox, deny list and checks', async () => {
  await eventually('all processes have reported', async () => (await view()).processes.length === 3);
  const listeners = fixture.deps.redis.redis.listenerCount('close');
  await Promise.all([view(), view(), view()]);
  expect(fixture.deps.redis.redis.listenerCount('close')).toBe(listeners);
  await eventually('the events are delivered', async () => (await view()).outbox.waiting === 0);
  const { status, json } = await fixture.read('/api/system');
  expect([status, json.gaps]).toEqual([200, []]);
  const services = json.processes.map(({ process }: { readonly process: string }) => process.split(' ')[0]);
  expect(services).toEqual(['api', 'push-gateway', 'worker']);
  expect(json.processes[0]).toMatchObject({
    version: expect.any(String),
    generation: expect.any(Number),
    settings: { requires_verified_email: 'false', wrong_passwords_a_day: 100, token_seconds: expect.any(Number) },
  });
  const access = json.keys.filter(({ kind }: { readonly kind: string }) => kind === 'access');
  expect(access[0]).toMatchObject({ signs: [expect.stringMatching(/^api /)], accepts: expect.any(Array) });
  expect(json.queues.map(({ name }: { readonly name: string }) => name)).toEqual([
    'service.auth.commands.force-logout',
    'service.auth.events.account.analytics',
    'service.auth.events.registered.analytics',
  ]);
  expect(json.subscribers).toEqual([
    { name: 'analytics', configured: true, suspended_at: null, suspended_by: null, dead_letters: 0 },
  ]);
  expect(json).toMatchObject({ outbox: { waiting: 0, oldest_seconds: null }, deny_list: { is_complete: true } });
  expect(json.checks.map(({ check }: { readonly check: string }) => check)).toContain('mongodb replica set');
});

const exposed = (streams: number, refused: number) => `# HELP push_streams_open Open push streams
# TYPE push_streams_open gauge
push_streams_open{service="push-gateway"} ${streams}
auth_rate_limited_total{rule="login_source",service="api"} ${refused}
auth_rate_limited_total{rule="code_account",service="api"} 0
auth_rate_limited_total{rule="broken
push_streams_open_more 7
`;

test('streams and refusals come from the metrics of every address of each host name', async () => {
  const [one, other] = [await serve({ '/metrics': exposed(3, 5) }), await serve({ '/metrics': exposed(4, 2) })];
  const { port } = new URL(one);
  const { streams, limits, gaps } = await view({
    metricsUrls: [`http://127.0.0.1:${port}/metrics`, `${other}/metrics`],
  });
  expect(streams.map(({ open }) => open).toSorted()).toEqual([3, 4]);
  expect(streams.map(({ process }) => process)).toContain(`127.0.0.1:${port}`);
  expect(limits).toEqual({ span: 'since_start', rules: [{ rule: 'login_source', refused: 7 }] });
  expect(gaps).toEqual([]);
});

test('a metrics source that never answers, answers too much or is not there is a gap, and the rest is seen', async () => {
  const good = await serve({ '/metrics': exposed(3, 0) });
  const silent = await serve({});
  const large = await serve({ '/metrics': 'x'.repeat(4_100_000) });
  const metricsUrls = [good, silent, large, 'http://no-such-host.invalid:1'].map((url) => `${url}/metrics`);
  const { streams, gaps } = await view({ metricsUrls });
  expect(streams).toHaveLength(1);
  expect(gaps).toHaveLength(3);
  expect(gaps.join()).toContain('more than 4000000 bytes');
  expect(gaps.join()).toContain('no-such-host.invalid:1: ');
});

test('with a Prometheus its answers count, by pod, and the refusals of the last hour', async () => {
  const vector = (...result: object[]) => JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
  const prometheusUrl = await serve({
    push_streams_open: vector({ metric: { pod: 'gateway-1', instance: '10.0.0.1:9082' }, value: [1, '12'] }),
    '/api/v1/query': vector({ metric: { rule: 'login_source' }, value: [1, '2.6'] }),
  });
  const { streams, limits, gaps } = await view({ prometheusUrl: `${prometheusUrl}/` });
  expect(gaps).toEqual([]);
  expect(limits).toEqual({ span: 'hour', rules: [{ rule: 'login_source', refused: 3 }] });
  expect(streams).toHaveLength(1);
  const broken = await view({ prometheusUrl: 'http://user:pass-of-prometheus@127.0.0.1:1' });
  expect(broken.gaps).toEqual([expect.stringMatching(/^Prometheus: /)]);
  expect(JSON.stringify(broken.gaps)).not.toContain('pass-of-prometheus');
});

test('what a Prometheus says in another form, or of nothing that can be counted, breaks nothing', async () => {
  const vector = (...result: unknown[]) => JSON.stringify({ data: { result } });
  const sample = (metric: unknown, value: unknown) => ({ metric, value: [1, value] });
  const asked = 'sum by (rule) (increase(auth_rate_limited_total[1h]))';
  const streams = vector(sample({ pod: 7 }, '2'), sample({ pod: {} }, '3'), sample({ instance: 'a' }, 'NaN'));
  const rules = vector(sample({ rule: { $ne: 1 } }, '1'), sample({ rule: 'login' }, '+Inf'));
  const url = await serve({ push_streams_open: streams, [asked]: rules });
  const seen = await view({ prometheusUrl: url });
  expect(seen.streams.map(({ process, open }) => [typeof process, open]).sort()).toEqual([
    ['string', 2],
    ['string', 3],
  ]);
  expect(seen.limits.rules).toEqual([{ rule: expect.any(String), refused: 1 }]);
  for (const text of ['null', '[]', '{"data":{"result":7}}', '{"data":{"result":[null]}}']) {
    const other = await view({ prometheusUrl: await serve({ '/api/v1/query': text }) });
    expect(other.streams).toEqual([]);
  }
});

test('a label that never ends is read in the time of its length', async () => {
  const metricsUrl = await serve({ '/metrics': `push_streams_open{${'a'.repeat(3_000_000)}} 7\n` });
  expect((await view({ metricsUrls: [`${metricsUrl}/metrics`] })).streams).toMatchObject([{ open: 7 }]);
});

test('without MongoDB or Redis the other sources are seen, and the gaps say what is missing', async () => {
  const away = () => Promise.reject(new OperationError('unavailable', 'it cannot be reached'));
  const withoutRedis = await view({}, { useRedis: away });
  expect(withoutRedis).toMatchObject({ processes: [], deny_list: { is_complete: null, entries: null }, queues: [] });
  expect(withoutRedis.outbox.waiting).toEqual(expect.any(Number));
  expect(withoutRedis.gaps).toContain('processes: it cannot be reached');
  const withoutMongo = await view({}, { useMongo: away });
  expect(withoutMongo).toMatchObject({ outbox: { waiting: null, oldest_seconds: null }, subscribers: [] });
  expect(withoutMongo.deny_list.is_complete).toBe(true);
  expect(withoutMongo.checks).toContainEqual(expect.objectContaining({ check: 'mongodb reachable', status: 'failed' }));
});

test('a subscriber that was just suspended is seen at once, though readers share the rest', async () => {
  const read = async () => (await fixture.read('/api/system')).json;
  const before = await read();
  const { subscribers } = storesOf(fixture.collections);
  await subscribers.suspend('analytics', { at: new Date(), eventId: 'operator' });
  const after = await read();
  await subscribers.resume('analytics', new Date());
  expect([before, after].map((one) => one.subscribers[0].suspended_at !== null)).toEqual([false, true]);
});

test('all readers at once share one computation of the system, and a failed one is not kept', async () => {
  const runs: PromiseWithResolvers<number>[] = [];
  const read = shareWork(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  }, 3_600_000);
  const [one, other] = [read(), read()];
  runs[0]?.reject(new Error('a bug'));
  await expect(Promise.all([one, other])).rejects.toThrow('a bug');
  const again = [read(), read()];
  runs[1]?.resolve(2);
  expect(await Promise.all([...again, read()])).toEqual([2, 2, 2]);
  expect(runs).toHaveLength(2);
});

test('dead letters come in parts, oldest first, of all subscribers or of one', async () => {
  const { user_id } = await newSession(fixture);
  const at = Date.now();
  const letters = Array.from({ length: 45 }, (_, index): DeadLetterDocument => {
    const event = newNotification({ user_id });
    const [subscriber, time] = [index % 3 === 0 ? 'crm' : 'mail', new Date(at + Math.floor(index / 10))];
    const tried = { attempts: 40, first_attempt_at: time, last_attempt_at: time, created_at: time, attempt_log: [] };
    const about = { event_id: event.id, subscriber, topic: event.type, event, last_error: 'answered 503' };
    return { _id: `${subscriber}:${event.id}`, ...about, ...tried };
  });
  await fixture.collections.deadLetters.insertMany(letters);
  const read = async (query: string) => {
    const parts: { readonly event_id: string }[][] = [];
    for (let after = ''; ; ) {
      const { json } = await fixture.read(`/api/dead-letters?${query}${after}`);
      parts.push(json.items);
      if (json.next === null) return parts;
      after = `&after=${json.next}`;
    }
  };
  const all = await read('');
  expect(all.map(({ length }) => length)).toEqual([20, 20, 5]);
  expect(new Set(all.flat().map(({ event_id }) => event_id)).size).toBe(45);
  expect(all[0]?.[0]).toMatchObject({ topic: 'notice', attempts: 40, last_error: 'answered 503' });
  expect((await read('subscriber=crm')).flat()).toHaveLength(15);
  const never = Buffer.from('2026-13-41T00:00:00.000Z crm:x').toString('base64url');
  for (const after of ['x', never]) expect((await fixture.read(`/api/dead-letters?after=${after}`)).status).toBe(400);
  await fixture.collections.deadLetters.deleteMany({});
  expect((await storesOf(fixture.collections).deadLetters.counts(10)).size).toBe(0);
});
