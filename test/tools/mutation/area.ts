/** Sources to mutate, and the test files that run against each of the mutants. */
export interface Part {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

/** Sources with a common score. */
export interface Area {
  readonly name: string;
  /** A description of the sources, for docs/mutation.md. */
  readonly covers: string;
  readonly parts: readonly Part[];
  /** True if the tests need MongoDB and Redis. */
  readonly needsServers: boolean;
  /** The score in percent that the area must reach. */
  readonly aim: number;
}

/** The use cases of any feature. */
export const useCases = 'services/api/src/usecases/*';

export const ofLimits = 'services/api/src/limits';
