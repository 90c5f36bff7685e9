import manifest from '../package.json' with { type: 'json' };

/** Version of a build, and the builds with which it may share its stores. */
export interface Build {
  readonly version: string;
  /** Generation of what the build writes: documents, events, jobs and commands. Builds before the first have 0. */
  readonly generation: number;
  /** Oldest generation that may run at the same time, during an upgrade. */
  readonly beside: number;
  /** Oldest generation that may run on the data once the upgrade is complete. */
  readonly needs: number;
}

/**
 * The build that runs. docs/releasing.md, "Generations", says when the numbers rise. Generation 1 has account events,
 * second factors, passkeys and bound sessions. An older api asks for none of these.
 */
export const thisBuild: Build = { version: manifest.version, generation: 1, beside: 0, needs: 1 };
