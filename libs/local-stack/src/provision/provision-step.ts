import type { Log } from '../log.ts';

export interface ProvisionContext {
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
  /** Directory into which a step puts the binaries that it obtains. */
  readonly cacheDir: string;
  /** Ends the programs that a step has started. */
  readonly signal?: AbortSignal | undefined;
}

/** A binary to run, or an existing server. The services read the address of an existing server themselves. */
export type Provided = { readonly external: true } | { readonly binary: string };

export type StepResult = Provided | { readonly missing: string };

/** One way to get a server. It returns `missing` with a reason if it can't be used on this machine. */
export interface ProvisionStep {
  /** Description of the source, as in "mongod on the PATH". */
  readonly title: string;
  /**
   * True if the program is the user's own choice. If it fails, nothing else is tried, and later starts do not reuse it.
   */
  readonly isChoice?: true;
  run(context: ProvisionContext): Promise<StepResult>;
}
