import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import type { Candidate } from './candidate.ts';
import { type Load, measureOperation } from './measure-operation.ts';
import type { OperationName } from './operations.ts';

/** CPU milliseconds of server and MongoDB for each of the first operations of a process that has just started. */
export interface ColdCost {
  readonly operation: OperationName;
  readonly candidate: string;
  readonly both: number;
}

/** Starts a new server for each operation that it offers, and measures the server's first runs of it. */
export async function measureCold(
  start: () => Promise<Candidate>,
  names: readonly OperationName[],
  servers: TestServers,
  load: (name: OperationName) => Load,
): Promise<ColdCost[]> {
  const costs: ColdCost[] = [];
  for (const operation of names) {
    const candidate = await start();
    try {
      if (!candidate.offers.includes(operation)) continue;
      const { server, mongod } = await measureOperation(operation, candidate, servers, load(operation));
      costs.push({ operation, candidate: candidate.name, both: server + mongod });
    } finally {
      await candidate.end();
    }
  }
  return costs;
}
