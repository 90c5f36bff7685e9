import { strict as assert } from 'node:assert';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../agent/ask.ts';
import { newAccount } from '../agent/sessions.ts';
import { apiBy } from '../agent-client.ts';
import type { Cluster, Images } from '../cluster.ts';
import { settings, untilNothingIsMissing } from '../kubernetes.ts';
import { runCommand } from '../run-command.ts';

/** Values of a release whose services send to the receiver the traces that a client asks for. */
export const traced = settings(
  ...['tracing.endpoint=http://receiver:8090', 'tracing.protocol=http/json', 'tracing.samplerArg=0'],
  'tracing.networkPolicy.ports={8090}',
);

/** Makers of the spans in the trace of a registration, by service: scopes of OpenTelemetry, or stores. */
const expected = [
  ...['auth-api mongodb', 'auth-api redis', 'auth-api auth-account', 'auth-api bullmq'],
  ...['auth-worker mongodb', 'auth-worker redis', 'auth-worker auth-account', 'auth-worker bullmq'],
  'auth-worker @opentelemetry/instrumentation-undici',
];

/** Several times the 5 s after which a service sends its spans. */
const traceLimitMs = 60_000;

/** Looks for the spans of each, because a package in a bundle is not instrumented. */
export async function checkTraces({ reporter, agent }: Cluster): Promise<void> {
  await reporter.check('a registration is one trace, with the spans of MongoDB, Redis, BullMQ and fetch', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    assert.equal((await apiBy(agent).registerAccount(newAccount(), headers)).status, 201);
    const spans = { url: `http://127.0.0.1:8090/spans/${traceId}`, method: 'GET' };
    let found: string[] = [];
    await untilNothingIsMissing(async () => {
      found = (await agent.call('ask', spans)).json;
      return expected.filter((maker) => !found.includes(maker)).map((maker) => `no span of ${maker}`);
    }, traceLimitMs);
    return [`${found.length} spans of ${expected.length} makers`];
  });
}

const limitMs = 180_000;
const manifests = 'k8s/otel-tail-sampling';
/** Number of ordinary requests. One in a hundred is kept; the chance that 20 or more are kept is one in 10^12. */
const ordinary = 200;
const notable = 5;
/** Milliseconds that the receiver takes for an event, which the policy `slow` counts as slow. */
const slowMs = 2_500;

/**
 * Builds an image of the collector that CLUSTER_COLLECTOR names, applies k8s/otel-tail-sampling with it, and checks
 * which ordinary, slow and failed requests the collector keeps.
 */
export async function checkCollector(cluster: Cluster, program: string, values: readonly string[]): Promise<void> {
  const { reporter, kubernetes, images } = cluster;
  const isUp = await reporter.check('an OpenTelemetry Collector with tail sampling takes the traces', async () => {
    const image = await buildCollectorImage(images, program);
    const rendered = await kubernetes.kubectl(['kustomize', manifests]);
    await kubernetes.kubectl(['apply', '-f', '-'], rendered.replace(/image: otel\/\S+/, `image: ${image}`));
    await kubernetes.kubectl(['rollout', 'status', 'deployment/otel-collector', '--timeout=120s']);
    const tracing = settings('tracing.endpoint=http://otel-collector:4318', 'tracing.sampler=parentbased_always_on');
    await kubernetes.upgrade([...values, ...tracing]);
    await kubernetes.allSettled();
    return [image];
  });
  if (!isUp) return;
  await checkKept(cluster);
  await kubernetes.kubectl(['delete', '--kustomize', manifests]);
}

async function checkKept(cluster: Cluster): Promise<void> {
  const { reporter, kubernetes } = cluster;
  await reporter.check('it keeps slow and failed traces, and one in a hundred of the rest', async () => {
    const sent = await sendTraffic(cluster);
    let kept = { ordinary: 0, slow: 0, failed: 0 };
    const isUndecided = async () => {
      const log = await kubernetes.kubectl(['logs', 'deployment/otel-collector', '--tail=-1']);
      const count = (ids: readonly string[]) => ids.filter((id) => log.includes(id)).length;
      kept = { ordinary: count(sent.ordinary), slow: count(sent.slow), failed: count(sent.failed) };
      return kept.slow === notable && kept.failed === notable ? [] : [`kept: ${JSON.stringify(kept)}`];
    };
    await untilNothingIsMissing(isUndecided, limitMs);
    assert.ok(kept.ordinary < ordinary / 10, `${kept.ordinary} of ${ordinary} ordinary requests were kept`);
    return [
      `kept: ${kept.slow} of ${notable} slow, ${kept.failed} of ${notable} failed, ${kept.ordinary} of ${ordinary} others`,
    ];
  });
}

/** Builds and returns the image, which contains nothing but the program. */
async function buildCollectorImage({ registry, tag }: Images, program: string): Promise<string> {
  const image = `${registry}/auth-account/otel-collector:${tag}`;
  const folder = await mkdtemp(join(tmpdir(), 'auth-account-collector-'));
  try {
    await copyFile(program, join(folder, 'otelcol'));
    await writeFile(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY otelcol /otelcol\nENTRYPOINT ["/otelcol"]\n');
    await runCommand('buildah', ['build', '--isolation', 'chroot', '--tag', image, folder], { timeoutMs: 300_000 });
    const tls = process.env.CLUSTER_REGISTRY_INSECURE === undefined ? [] : ['--tls-verify=false'];
    await runCommand('buildah', ['push', '--quiet', ...tls, image, `docker://${image}`], { timeoutMs: 300_000 });
    return image;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the request ids. Slow and failed requests come one after another, because their traces must not overlap in
 * time.
 */
async function sendTraffic({ agent }: Cluster) {
  const api = apiBy(agent);
  const send = async (count: number, request: () => Promise<Reply>) => {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await request()).requestId ?? '');
    return ids;
  };
  const register = () => api.registerAccount(newAccount());
  const others = await send(ordinary, () => api.listPublicKeys());
  await agent.call('paceReceiver', { ms: slowMs });
  const slow = await send(notable, register);
  await sleep(2 * slowMs); // the deliveries of the slow requests' events are over then
  await agent.call('paceReceiver', { ms: 0, status: 500 });
  const failed = await send(notable, register);
  await sleep(slowMs);
  await agent.call('paceReceiver', { ms: 0 });
  return { ordinary: others, slow, failed };
}
