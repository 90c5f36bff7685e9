import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, type LocalRedis, startRedis } from '@auth-account/local-stack';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { startWhole } from '../../../support/closing.ts';
import { type GatewayFixture, openGatewayFixture } from '../../../support/gateway/gateway-fixture.ts';
import { gatewayEnvironment } from '../../../support/service-environment.ts';
import { type CalledProcess, openCalls } from '../../process-calls/open-calls.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { countCpu } from '../machine/process-usage.ts';
import { otherDescriptors, type ServerProcess, startServer, withDescriptors } from '../machine/start-server.ts';
import { type Percentiles, percentilesOf, rounded } from '../report/figures.ts';
import type { CommanderCalls } from './commander-main.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';
import type { BenchSession } from './load-client-main.ts';

const handshakesInFlight = 256;
/** Limit for the sessions in one call of the client, whose text is some 700 bytes for each. */
const maxTogether = 5_000;
const warmUpStreams = 1_000;
const closesInFlight = 4;
const maxCloses = 1_000;
/** Lifetime of the tokens, for the whole benchmark. */
const tokenSeconds = 3 * 60 * 60;

const gatewayMain = fileURLToPath(new URL('../../../../services/push-gateway/src/main.ts', import.meta.url));
const commanderMain = fileURLToPath(new URL('./commander-main.ts', import.meta.url));

interface Gateway extends ServerProcess {
  readonly opsPort: number;
}

/** A gateway with a Redis of its own, and a client. */
export interface StreamBed {
  readonly sessions: readonly BenchSession[];
  readonly fixture: GatewayFixture;
  readonly redis: LocalRedis;
  /** Starts a gateway that can hold the streams, by default on a port of its own. */
  readonly startGateway: (settings?: Readonly<Record<string, string>>) => Promise<Gateway>;
  /** The gateway that holds the streams. */
  server: Gateway;
  readonly client: LoadClient;
  /** A process that publishes commands and messages over Redis, as another service would. */
  readonly commander: CalledProcess<CommanderCalls>;
}

/** Starts all of it, with sessions for `streams` streams, or nothing. `groupOf`: the group of each session. */
export function openStreamBed(streams: number, groupOf: (index: number) => string) {
  return startWhole(async (endings): Promise<StreamBed> => {
    const dir = await mkdtemp(join(tmpdir(), 'bench-redis-'));
    endings.push(() => rm(dir, { recursive: true, force: true }));
    const redis = await startRedis({ dir, log: () => undefined });
    endings.push(redis.kill);
    const fixture = await openGatewayFixture(redis.url);
    endings.push(fixture.close);
    const env = gatewayEnvironment(fixture.env);
    const sessions = await mintSessions(
      fixture.env.ACCESS_TOKEN_KEYS_FILE ?? '',
      Array.from({ length: streams }, (_, index) => groupOf(index)),
    );
    const descriptors = streams + otherDescriptors;
    const startGateway = async (settings = {}) => {
      // A port that the system chose cannot be taken again while connections linger there.
      const [port, opsPort] = [await findFreePort(), await findFreePort()];
      const ports = { PUSH_PORT: String(port), PUSH_OPS_PORT: String(opsPort) };
      const server = await startGatewayWith(descriptors, { ...ports, ...env, ...settings });
      endings.push(() => server.end());
      return { ...server, opsPort };
    };
    const server = await startGateway();
    await warmUp(server, sessions.slice(0, warmUpStreams));
    const client = startLoadClient(streams);
    endings.push(client.close);
    const commander = openCalls<CommanderCalls>(process.execPath, [commanderMain], { env });
    endings.push(commander.close);
    return { sessions, fixture, redis, startGateway, server, client, commander };
  });
}

/** Signs a token for a session in each of the groups. */
async function mintSessions(keysFile: string, groups: readonly string[]): Promise<BenchSession[]> {
  const keys = await loadKeyFile(keysFile);
  const claimed = { issuer: 'https://auth.local', audience: 'food-storage', ttlSeconds: tokenSeconds };
  const sign = createAccessTokenSigner({ keys, ...claimed });
  return groups.map((home_group_id) => {
    const [user_id, device_id, sid] = [randomUUID(), randomUUID(), randomUUID()];
    const claims = { user_id, device_id, home_group_id, sid, account_type: 'OFFICE', ver: 1 } as const;
    return { sessionId: sid, token: sign(claims) };
  });
}

function startGatewayWith(descriptors: number, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const command = withDescriptors(descriptors, [process.execPath, gatewayMain]);
  return startServer(command, /"port":(\d+)[^\n]*"push gateway listens"/, {
    NODE_ENV: 'production',
    MAX_STREAMS: '1000000',
    MAX_STREAMS_PER_GROUP: '100000',
    HANDSHAKE_LIMIT_PER_ADDRESS: '10000000',
    ACCESS_TOKEN_MAX_TTL_SECONDS: String(tokenSeconds),
    ...env,
  });
}

/**
 * Opens streams at the server, and ends them with their client. Otherwise a process would still have the garbage of
 * its start in memory, which is only collected when streams come, and would be larger without streams than with them.
 */
async function warmUp({ port }: ServerProcess, sessions: readonly BenchSession[]): Promise<void> {
  const client = startLoadClient(sessions.length);
  try {
    await client.call('open', { port, sessions, from: 0, inFlight: handshakesInFlight });
  } finally {
    await client.close();
  }
}

/** Opens the streams of the sessions from `from` on until there are `to`. */
export async function openMore({ server: { pid, port }, client, sessions }: StreamBed, from: number, to: number) {
  const usedMs = countCpu([pid]);
  let [milliseconds, refused] = [0, 0];
  for (let at = from; at < to; at += maxTogether) {
    const order = { port, sessions: sessions.slice(at, Math.min(at + maxTogether, to)), from: at };
    const opened = await client.call('open', { ...order, inFlight: handshakesInFlight });
    milliseconds += opened.endedAt - opened.begunAt;
    refused += opened.refused;
  }
  return {
    handshakesPerSecond: Math.round(((to - from) / milliseconds) * 1_000),
    openingSeconds: rounded(milliseconds / 1_000),
    refused,
    cpuMsPerHandshake: rounded(usedMs() / (to - from)),
  };
}

/**
 * Closes the newest of the `streams`, at most half of them, with some commands in flight, and opens them again. Returns
 * the times from the command in the publisher's process to the close frame at the client.
 */
export async function measureCloses(
  { client, server, commander, sessions }: StreamBed,
  streams: number,
): Promise<Percentiles> {
  const count = Math.min(maxCloses, Math.floor(streams / 2));
  const from = streams - count;
  const closing = sessions.slice(from, streams);
  const latencies: number[] = [];
  await runAtOnce({ count, atOnce: closesInFlight }, async (index) => {
    const begun = commander.call('close', closing[index]?.sessionId ?? '');
    const [{ at }, begunAt] = await Promise.all([client.call('closed', from + index), begun]);
    latencies.push(at - begunAt);
  });
  await client.call('open', { port: server.port, sessions: closing, from, inFlight: closesInFlight });
  return percentilesOf(latencies);
}
