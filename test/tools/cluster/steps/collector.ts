import { strict as assert } from 'node:assert';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@auth-account/local-stack';
import type { Reply } from '../agent/ask.ts';
import { apiBy } from '../agent-client.ts';
import type { Cluster, Images } from '../cluster.ts';
import { runCommand } from '../run-command.ts';

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
    const settings = ['tracing.endpoint=http://otel-collector:4318', 'tracing.sampler=parentbased_always_on'];
    const args = [...values, ...settings.flatMap((setting) => ['--set', setting])];
    await kubernetes.helm(['upgrade', 'auth-account', 'charts/auth-account', ...args, '--wait', '--timeout', '4m']);
    await Promise.all(['api', 'push-gateway', 'worker'].map((component) => kubernetes.settled(component)));
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
    const isDecided = async () => {
      const log = await kubernetes.kubectl(['logs', 'deployment/otel-collector', '--tail=-1']);
      const count = (ids: readonly string[]) => ids.filter((id) => log.includes(id)).length;
      kept = { ordinary: count(sent.ordinary), slow: count(sent.slow), failed: count(sent.failed) };
      return kept.slow === notable && kept.failed === notable;
    };
    await waitUntil(isDecided, { what: 'they are kept', timeoutMs: limitMs, intervalMs: 2_000 }).catch((error) => {
      throw new Error(`kept: ${JSON.stringify(kept)}`, { cause: error });
    });
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
  const register = () => {
    const email = `${crypto.randomUUID()}@cluster.invalid`;
    const body = { email, password: 'correct horse battery staple', space_creation_mode: 'CREATE_NEW_HOME' };
    return api.registerAccount(body);
  };
  const idsOf = (replies: readonly Reply[]) => replies.map(({ requestId = '' }) => requestId);
  const others: Reply[] = [];
  while (others.length < ordinary)
    others.push(...(await Promise.all(Array.from({ length: 20 }, () => api.listPublicKeys()))));
  await agent.call('paceReceiver', { ms: slowMs });
  const slow: Reply[] = [];
  while (slow.length < notable) slow.push(await register());
  // After this pause, the deliveries of the slow requests' events are over.
  await new Promise((resolve) => setTimeout(resolve, 2 * slowMs));
  await agent.call('paceReceiver', { ms: 0, status: 500 });
  const failed: Reply[] = [];
  while (failed.length < notable) failed.push(await register());
  await new Promise((resolve) => setTimeout(resolve, slowMs));
  await agent.call('paceReceiver', { ms: 0 });
  return { ordinary: idsOf(others), slow: idsOf(slow), failed: idsOf(failed) };
}
