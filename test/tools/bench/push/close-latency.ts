import type { Commander } from './commander.ts';
import type { BenchSession } from './dialect.ts';
import type { LoadClient } from './load-client.ts';
import { type Percentiles, percentilesOf } from './percentiles.ts';

export interface CloseLatencyDeps {
  readonly commander: Commander;
  readonly sessions: readonly BenchSession[];
  /** Returns the client that holds a session. */
  readonly clientOf: (index: number) => LoadClient;
}

/**
 * Measures from the command in the publisher's process to the close frame at the client, with that many commands in
 * flight.
 */
export async function measureCloseLatency(
  { commander, sessions, clientOf }: CloseLatencyDeps,
  indexes: readonly number[],
  inFlight: number,
): Promise<Percentiles> {
  const latencies: number[] = [];
  const rest = [...indexes];
  const lane = async () => {
    for (let index = rest.pop(); index !== undefined; index = rest.pop()) {
      const closed = clientOf(index).closed(index);
      const [{ at }, begun] = await Promise.all([closed, commander.close(sessions[index]?.sessionId ?? '')]);
      latencies.push(at - begun);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return percentilesOf(latencies);
}
