import { strict as assert } from 'node:assert';
import type { AgentClient } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';
import type { ReverseProxy } from '../proxy.ts';

/** Long enough for the handshakes of a busy machine; with the gateway's 30 s shorter than a call of the agent may be. */
const tokenSeconds = 15;
/** The api rounds the beginning of a token down to the second. */
const leastMs = (tokenSeconds + 30 - 1) * 1_000;

/**
 * Upgrades the release so that access tokens are short, and has them end under streams that come by each entrance. Comes
 * last: until the next upgrade all tokens are short. One upgrade is enough, because no longer one is in use any more.
 */
export async function checkTokenEnds(
  { reporter, kubernetes }: Cluster,
  outside: AgentClient,
  { entrances }: ReverseProxy,
  values: readonly string[],
): Promise<void> {
  const isShort = await reporter.check(`helm upgrade to access tokens of ${tokenSeconds} s`, async () => {
    const args = [...values, '--set', `config.ACCESS_TOKEN_TTL_SECONDS=${tokenSeconds}`];
    await kubernetes.helm(['upgrade', 'auth-account', 'charts/auth-account', ...args, '--wait', '--timeout', '4m']);
    await Promise.all(['api', 'push-gateway'].map((component) => kubernetes.settled(component)));
    return [];
  });
  if (!isShort) return;
  await Promise.all(
    entrances.map(({ name, url }) =>
      reporter.check(`by ${name}: a stream ends 30 s after its token, by 4002`, async () => {
        const reports = await outside.call('outliveTokens', { api: url, push: url });
        assert.deepEqual(new Set(reports.map(({ end }) => end)), new Set(['4002 TOKEN_EXPIRED']));
        for (const { way, ms } of reports) assert.ok(ms > leastMs, `${way}: after ${ms.toFixed(0)} ms already`);
        return reports.map(({ way, end, ms }) => `${way}: ${end} ${(ms / 1_000).toFixed(1)} s after the login`);
      }),
    ),
  );
}
