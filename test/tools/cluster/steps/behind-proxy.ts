import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from '@auth-account/lifecycle';
import { waitUntil } from '@auth-account/local-stack';
import { requestTo } from '../../../support/api/api-driver.ts';
import { openSocket } from '../../../support/gateway/raw-connection.ts';
import { newEmail, type StreamCredentials } from '../agent/sessions.ts';
import { type AgentClient, apiBy } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';
import { type Kubernetes, labelsOf, settings, untilFound } from '../kubernetes.ts';
import { authorityObject, type Entrance, type ReverseProxy } from '../proxy.ts';

const limitMs = 60_000;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Upgrades the release so that it can be reached through the proxy, and waits until it is reached. */
export async function openEntrances(
  { reporter, kubernetes }: Cluster,
  outside: AgentClient,
  proxy: ReverseProxy,
  values: readonly string[],
): Promise<boolean> {
  return reporter.check('helm upgrade opens the entrances by Ingress and HTTPRoute, with TLS', async () => {
    await kubernetes.apply(authorityObject(proxy));
    await kubernetes.upgrade(values);
    for (const { name, url } of proxy.entrances) {
      const isOpen = async () => (await readKeys(outside, url)) === 200;
      await waitUntil(isOpen, { what: `${name} leads to the api`, timeoutMs: limitMs, intervalMs: 500 });
    }
    return proxy.entrances.map(({ url }) => url);
  });
}

/**
 * Returns the answer's status, or 0 without an answer. A name that the proxy does not know yet has another certificate
 * or answer.
 */
async function readKeys(agent: AgentClient, url: string): Promise<number> {
  try {
    return (await apiBy(agent, url).listPublicKeys()).status;
  } catch {
    return 0;
  }
}

/** Checks that every close arrives with its code and reason, whichever part of the handshake carries the token. */
export async function checkCloses({ reporter, agent }: Cluster, { url }: Entrance): Promise<void> {
  for (const by of ['header', 'subprotocol'] satisfies StreamCredentials[]) {
    await reporter.check(`streams by ${by}: each close arrives with its code and reason`, async () => {
      const reports = await agent.call('walkCloses', { api: url, push: url, by });
      const [wrongToken, ...closes] = [...reports].reverse();
      const ends = closes.map(({ end }) => end).sort();
      assert.deepEqual(ends, [
        '1000 LOGOUT_CONFIRMED',
        '4001 SESSION_REVOKED',
        '4003 STREAM_REPLACED',
        '4004 GROUP_CHANGED',
        '4005 SESSION_REPLACED',
      ]);
      assert.match(wrongToken?.end ?? '', /401/);
      return closes.map(({ signInMethod, end }) => `${signInMethod}: ${end}`);
    });
  }
}

/** Checks that the proxy creates an id if the app has sent none, and otherwise keeps the app's. */
export async function checkRequestIds({ reporter, agent }: Cluster, inside: AgentClient, { url }: Entrance) {
  await reporter.check('a request without X-Request-ID gets one from the proxy, and an own one stays', async () => {
    const { method, path } = requestTo('listSessions');
    const bare = { method, isNamed: false };
    const direct = await inside.call('ask', { url: `http://auth-account-api${path}`, ...bare });
    assert.equal(direct.status, 400, 'the api itself requires an id');
    const made = await agent.call('ask', { url: url + path, ...bare });
    assert.equal(made.status, 401, 'without a token');
    assert.match(made.requestId ?? '', uuid);
    const own = `cluster-${crypto.randomUUID()}`;
    const kept = await apiBy(agent, url).listSessions({ 'X-Request-ID': own });
    assert.equal(kept.requestId, own);
    return [`made: ${made.requestId}; without the proxy: ${direct.status} ${direct.json.error_code}`];
  });
}

/** Checks that paths such as `/apix`, which is not below `/api`, do not reach the api. */
export async function checkPaths({ reporter, agent }: Cluster, { url }: Entrance): Promise<void> {
  await reporter.check('only the paths of the api lead to it', async () => {
    const ask = (path: string) => agent.call('ask', { url: url + path, method: 'GET' });
    assert.equal((await ask('/api/v1/nothing')).json.error_code, 'ERR-ROUTE-NOT-FOUND', "the api's own 404");
    const paths = ['/apix', '/.well-knownx', '/wsx', '/docs', '/'];
    for (const path of paths) {
      const { status, json } = await ask(path);
      assert.equal(status, 404, path);
      assert.equal(json.error_code, undefined, `${path} was answered by a service`);
    }
    return [`${paths.join(', ')}: 404 of the proxy`];
  });
}

/**
 * Checks that a Service without a ready pod, such as while all pods lack a dependency, answers as an outage and not as
 * a wrong address.
 */
export async function checkNoPodLeft({ reporter, kubernetes }: Cluster, outside: AgentClient, proxy: ReverseProxy) {
  await reporter.check('with no pod left the proxy answers 503', async () => {
    const { podsOf, scale } = kubernetes;
    const components = ['api', 'push-gateway'];
    const paths = ['/.well-known/jwks.json', `/ws/push-stream/${crypto.randomUUID()}`];
    const targets = proxy.entrances.flatMap(({ url }) => paths.map((path) => ({ url: url + path, method: 'GET' })));
    const before = await Promise.all(components.map(async (component) => (await podsOf(component)).length));
    try {
      await Promise.all(components.map((component) => scale(component, 0)));
      const isEmpty = async () => (await Promise.all(components.map(podsOf))).every(({ length }) => length === 0);
      await waitUntil(isEmpty, { what: 'all pods have gone', timeoutMs: 2 * limitMs, intervalMs: 500 });
      await sleep(5_000); // the proxy learns of the change a moment later
      const answers = await Promise.all(targets.map((target) => outside.call('ask', target)));
      assert.deepEqual(
        answers.map(({ status }, index) => [targets[index]?.url, status]),
        targets.map(({ url }) => [url, 503]),
      );
    } finally {
      await Promise.all(components.map((component, index) => scale(component, before[index] ?? 1)));
      await kubernetes.allSettled(components);
    }
    return [`${proxy.entrances.map(({ name }) => name).join(', ')}: 503 for the api and for streams`];
  });
}

const forged = {
  'X-Forwarded-For': '203.0.113.7, 198.51.100.9',
  'X-Real-Ip': '203.0.113.7',
  Forwarded: 'for=203.0.113.7',
};
/** Number of requests after which a limit of 40 a minute must have taken effect, however slow the machine. */
const patience = 2_000;

/** Checks that audit log and limits use the IP address that the proxy has seen, whatever the client's headers say. */
export async function checkClientNetwork(
  { reporter, kubernetes, agent }: Cluster,
  inside: AgentClient,
  proxy: ReverseProxy,
  { url }: Entrance,
): Promise<void> {
  const name = "audit and limits go by the client's IP address; a forged X-Forwarded-For does not count";
  await reporter.check(name, async () => {
    const network = await ownNetwork(proxy.address);
    const body = { email: newEmail(), password: 'not the password', device_id: crypto.randomUUID() };
    const refused = await apiBy(agent, url).logIn(body, forged);
    const audited = await findAudit(kubernetes, 'api', refused.requestId ?? '');
    assert.equal(audited, network, 'address in the audit log of the api');
    const handshake = `cluster-${crypto.randomUUID()}`;
    await agent.call('ask', { url: `${url}/ws/push-stream/${crypto.randomUUID()}`, ...upgradeAs(handshake) });
    const byGateway = await findAudit(kubernetes, 'push-gateway', handshake);
    assert.equal(byGateway, network, 'address in the audit log of the gateway');

    const invite = { token: crypto.randomUUID() };
    let asked = 0;
    let status = 0;
    while (status !== 429 && asked < patience) {
      const headers = { 'X-Forwarded-For': `203.0.113.${asked % 250}` };
      ({ status } = await apiBy(agent, url).findInvite(invite, headers));
      asked += 1;
    }
    assert.equal(status, 429, `each of ${asked} requests had another forged IP address, and none was refused`);
    const other = await apiBy(inside).findInvite(invite);
    assert.equal(other.status, 404, 'for a client of another IP address');
    return [`${network} in both audit logs; the limit of 40 a minute held after ${asked} forged IP addresses`];
  });
}

/** Returns a handshake with a wrong token as a plain request, because its request id must be known. */
function upgradeAs(requestId: string) {
  const headers = {
    ...forged,
    'X-Request-ID': requestId,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64'),
    Authorization: 'Bearer no.token.atall',
  };
  return { method: 'GET', headers };
}

/** Returns the network of this machine as the proxy sees it, in the form of the audit log. */
async function ownNetwork(address: string): Promise<string> {
  const socket = openSocket(443, { host: address });
  await once(socket, 'connect');
  const { localAddress } = socket;
  socket.destroy();
  return networkOf(localAddress, { v4: 24, v6: 48 });
}

/** Returns the network in the audit line of a request. */
async function findAudit({ kubectl }: Kubernetes, component: string, requestId: string): Promise<string> {
  return untilFound(`${component} has an audit line of ${requestId}`, limitMs, async () => {
    const log = await kubectl(['logs', '-l', labelsOf(component), '-c', component, '--tail=-1', '--since=5m']);
    const line = log.split('\n').find((one) => one.includes('"audit":true') && one.includes(requestId));
    return line && (JSON.parse(line) as { address?: string }).address;
  });
}

const idleStreams = 6;
/** Milliseconds that exceed the gateway's own limit, and Traefik's for an idle connection (180 s). */
const idleMs = 190_000;

/** Checks that idle streams through each entrance are still open after `idleMs`. */
export async function checkIdleStreams({ reporter }: Cluster, outside: AgentClient, { entrances }: ReverseProxy) {
  await reporter.check(`idle streams live on, by ${entrances.map(({ name }) => name).join(' and ')}`, async () => {
    const targets = entrances.map(({ url }) => ({ api: url, push: url }));
    await outside.call('holdIdle', { targets, each: idleStreams });
    await sleep(idleMs);
    const { open, ends, seconds } = await outside.call('lookAtIdle');
    assert.deepEqual(ends, [], 'streams that ended');
    assert.equal(open, targets.length * idleStreams);
    return [`${open} streams open after ${seconds} s with nothing but pings`];
  });
}

/**
 * The tokens' lifetime. It is enough for handshakes on a busy machine, and with the gateway's 30 s below the limit of
 * an agent's call.
 */
const tokenSeconds = 15;
/** The shortest time until a stream's end, because the api rounds the beginning of a token down to the second. */
const leastMs = (tokenSeconds + 30 - 1) * 1_000;

/**
 * Upgrades the release so that access tokens are short-lived, and checks that streams through each entrance end with
 * their tokens. This must be the last check, because until the next upgrade all tokens are short-lived.
 */
export async function checkTokenEnds(
  { reporter, kubernetes }: Cluster,
  outside: AgentClient,
  { entrances }: ReverseProxy,
  values: readonly string[],
): Promise<void> {
  const isShort = await reporter.check(`helm upgrade to access tokens of ${tokenSeconds} s`, async () => {
    await kubernetes.upgrade([...values, ...settings(`config.ACCESS_TOKEN_TTL_SECONDS=${tokenSeconds}`)]);
    await kubernetes.allSettled(['api', 'push-gateway']);
    return [];
  });
  if (!isShort) return;
  await Promise.all(
    entrances.map(({ name, url }) =>
      reporter.check(`by ${name}: a stream ends 30 s after its token, by 4002`, async () => {
        const reports = await outside.call('outliveTokens', { api: url, push: url });
        assert.deepEqual(new Set(reports.map(({ end }) => end)), new Set(['4002 TOKEN_EXPIRED']));
        for (const { signInMethod, ms } of reports)
          assert.ok(ms > leastMs, `${signInMethod}: after ${ms.toFixed(0)} ms already`);
        return reports.map(
          ({ signInMethod, end, ms }) => `${signInMethod}: ${end} ${(ms / 1_000).toFixed(1)} s after the login`,
        );
      }),
    ),
  );
}
