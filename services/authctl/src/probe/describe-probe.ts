import { exitCodes } from '../cli/exit-codes.ts';
import type { Outcome } from '../cli/outcome.ts';
import { table } from '../cli/table.ts';
import type { CleanUpReport } from './clean-up.ts';
import type { ProbeReport } from './create-probe.ts';
import type { CloseTime } from './walk-path.ts';

/** What one run found, for people and programs. Exit code 1 where the path or the cleaning up failed. */
export function describeProbe(report: ProbeReport): Outcome {
  const { ok, steps, close, clean_up, request_id } = report;
  const rows = steps.map(({ step, ok: isOk, ms, fault }) => [step, isOk ? 'ok' : 'failed', ms, fault]);
  const times = close === null ? [] : [tellClose(close)];
  const headings = ['step', 'result', 'ms', 'fault'];
  const text = [table(headings, rows), '', ...times, tellCleanUp(clean_up), `Request id: ${request_id}`].join('\n');
  const isFine = ok && clean_up.outcome !== 'failed';
  return { json: report, text, exitCode: isFine ? exitCodes.ok : exitCodes.negative };
}

function tellClose({ since_request_ms, since_answer_ms }: CloseTime): string {
  const side = since_answer_ms < 0 ? 'before' : 'after';
  return `Logout to close: ${since_request_ms} ms, ${Math.abs(since_answer_ms)} ms ${side} the answer.`;
}

function tellCleanUp({ outcome, leftovers, fault }: CleanUpReport): string {
  const earlier = leftovers === 0 ? '' : ` Of runs before, removed: ${leftovers}.`;
  switch (outcome) {
    case 'done':
      return `Cleaned up.${earlier}`;
    case 'waiting':
      return `Cleaned up but for the event, which some subscriber does not have yet; a later run removes it.${earlier}`;
    case 'skipped':
      return 'Not cleaned up, as MONGODB_URI is not set: what the run has made stays in the database.';
    case 'failed':
      return `Not cleaned up: ${fault}`;
  }
}
