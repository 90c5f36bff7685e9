import type { OperationName, OperationRun } from './operations.ts';

/** A server that answers operations, which is a process with its own database. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly offers: readonly OperationName[];
  /** Creates the data for `count` runs of an operation, and returns the function that does the run with an index. */
  prepare(operation: OperationName, count: number): Promise<OperationRun>;
  end(): Promise<void>;
}
