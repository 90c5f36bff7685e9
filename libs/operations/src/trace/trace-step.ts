/** A stored fact that a request caused. */
export interface TraceStep {
  /** Time by the clock of the process that stored the fact. */
  readonly at: Date;
  readonly what: string;
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
}
