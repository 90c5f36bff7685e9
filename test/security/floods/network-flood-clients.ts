import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { newEmail, password } from '../../support/api/accounts.ts';
import { apiAt } from '../../support/api/api-driver.ts';
import { type Agent, keepConnections } from '../../support/http-client.ts';

/** Input of the thread. */
export interface NetworkFloodOrder {
  readonly base: string;
  /** IP addresses of the loopback network from which the flood comes. */
  readonly addresses: readonly string[];
  /** Connections of each IP address. A connection sends its next request when the last one was answered. */
  readonly connections: number;
}

/** Result of the thread when it is stopped: the number of answers by status. Status 0 stands for no answer. */
export type NetworkFloodReport = Readonly<Record<string, number>>;

const { base, addresses, connections } = workerData as NetworkFloodOrder;
const statuses: Record<string, number> = {};
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});

/** Runs one connection, which repeats one registration under its idempotency key, or logs in to unknown accounts. */
async function ask(agent: Agent, replay: object | undefined, key: string): Promise<void> {
  const api = apiAt(base, { agent, headers: { 'X-Request-ID': 'flood', 'Idempotency-Key': key } });
  while (!isOver) {
    const sent = replay ? api.registerAccount(replay) : api.logIn({ email: newEmail(), password });
    const status = await sent.then(
      (answer) => answer.status,
      () => 0,
    );
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

const agents = addresses.map((localAddress) => keepConnections({ maxSockets: connections, localAddress }));
await Promise.all(
  agents.flatMap((agent) => {
    const [household, key] = [{ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }, randomUUID()];
    return Array.from({ length: connections }, (_, index) => ask(agent, index % 2 ? household : undefined, key));
  }),
);
for (const agent of agents) agent.destroy();
parentPort?.postMessage(statuses satisfies NetworkFloodReport);
