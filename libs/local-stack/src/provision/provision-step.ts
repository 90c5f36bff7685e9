import type { Log } from '../log.ts';

export interface ProvisionContext {
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
  /** Directory below which a step puts the binaries that it obtains. */
  readonly cacheDir: string;
  /** Ends the programs that a step has started. */
  readonly signal?: AbortSignal | undefined;
}

/** An existing server, whose address the services read themselves, or a binary to run. */
export type Provided = { readonly external: true } | { readonly binary: string };

export type StepResult = Provided | { readonly missing: string };

/** One way to get a server. It returns `missing` with a reason if this machine lacks what it needs. */
export interface ProvisionStep {
  /** Description of the source, as in "mongod on the PATH". */
  readonly title: string;
  /** The program is the user's own choice: nothing is tried in its place, and later starts do not use it. */
  readonly isChoice?: true;
  run(context: ProvisionContext): Promise<StepResult>;
}
