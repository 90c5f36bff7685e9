import { strict as assert } from 'node:assert';
import type { AgentClient } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';
import type { ReverseProxy } from '../proxy.ts';

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
        for (const { signInMethod, ms } of reports)
          assert.ok(ms > leastMs, `${signInMethod}: after ${ms.toFixed(0)} ms already`);
        return reports.map(
          ({ signInMethod, end, ms }) => `${signInMethod}: ${end} ${(ms / 1_000).toFixed(1)} s after the login`,
        );
      }),
    ),
  );
}
