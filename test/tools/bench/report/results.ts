import type { OperationsResult } from '../cost/measure-operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { OtherUse, QuietWait } from '../machine/cpu-counters.ts';
import type { Machine } from '../machine/describe-machine.ts';
import type { LogoutResult } from '../push/measure-logouts.ts';
import type { StreamsResult } from '../push/measure-streams.ts';
import type { Percentiles } from './figures.ts';

/** Results of a run of `npm run bench`, for the parts that were measured. */
export interface BenchResults {
  readonly machine: Machine;
  readonly minutes: number;
  readonly surroundings: readonly Surroundings[];
  readonly operations?: OperationsResult;
  readonly events?: Percentiles;
  readonly push?: PushResult;
  readonly growth?: readonly GrowthLevel[];
}

/** The machine's use by others while a part was measured. */
export interface Surroundings extends QuietWait, OtherUse {
  readonly part: string;
  /** The duration of the part, without the wait before it. */
  readonly seconds: number;
}

export interface PushResult {
  readonly streams: StreamsResult;
  readonly logouts: LogoutResult;
}
