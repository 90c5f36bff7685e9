import type { Log } from '../log.ts';

export interface ProvisionContext {
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
  /** Binaries that a step obtains go below this directory. */
  readonly cacheDir: string;
  /** Ends the programs that a step has started. */
  readonly signal?: AbortSignal | undefined;
}

/** A server that somebody else runs, whose address the services read themselves, or a binary to run. */
export type Provided = { readonly external: true } | { readonly binary: string };

export type StepResult = Provided | { readonly missing: string };

/** One way to get a server. It returns `missing` with a reason if this machine lacks what it needs. */
export interface ProvisionStep {
  /** Reads as a question: "mongod on the PATH". */
  readonly title: string;
  run(context: ProvisionContext): Promise<StepResult>;
}
