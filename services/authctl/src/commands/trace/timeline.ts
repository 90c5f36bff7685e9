import type { Outcome } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';

/** A stored fact that a request caused. */
export interface TraceStep {
  /** Time by the clock of the process that stored the fact. */
  readonly at: Date;
  readonly what: string;
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Sorts steps by time, and adds to each the milliseconds since the first. */
export function toTimeline(requestId: string, found: readonly TraceStep[], gaps: readonly string[]): Outcome {
  const steps = found.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const begun = steps[0]?.at.getTime() ?? 0;
  const timeline = steps.map(({ at, what, facts }) => ({ at, after_ms: at.getTime() - begun, what, ...facts }));
  const rows = steps.map(({ at, what, facts }) => [at, `+${at.getTime() - begun} ms`, what, describe(facts)]);
  const notes = gaps.map((gap) => `Not known: ${gap}`);
  return {
    json: { request_id: requestId, steps: timeline, gaps },
    text: [`Request ${requestId}`, table(['at', 'after', 'what', 'facts'], rows), ...notes].join('\n'),
  };
}

function describe(facts: TraceStep['facts']): string {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}=${value}`).join(' ');
}
