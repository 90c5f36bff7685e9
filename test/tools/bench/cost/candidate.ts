import type { OperationName, OperationRun } from './operations.ts';

/** A server that answers operations: a process with a database of its own. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly offers: readonly OperationName[];
  /** Makes what `count` runs of the operation need, and gives the run with that number. */
  prepare(operation: OperationName, count: number): Promise<OperationRun>;
  end(): Promise<void>;
}
