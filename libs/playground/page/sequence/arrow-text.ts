import type { Words } from '../words/en.ts';
import type { Saying } from './sequence.ts';

const troubles: ReadonlySet<Saying['kind']> = new Set(['lost', 'unsent', 'portal', 'kept']);

/** Returns the class that sets an arrow's colour. */
export function toneOf(saying: Saying, endReason: string | undefined): string {
  if (saying.kind === 'answer') return answerTone(saying.status, endReason);
  if (troubles.has(saying.kind) || (saying.kind === 'frame' && saying.isLost)) return 'bad';
  if (saying.kind === 'transaction') return saying.isCommitted ? 'strong' : 'bad';
  if (saying.kind === 'deliver' && saying.hasFailed) return 'bad';
  return saying.kind;
}

function answerTone(status: number, endReason: string | undefined): string {
  if (status < 400) return 'good';
  return endReason === undefined ? 'bad' : 'expected';
}

/** Returns a path without the version and without ids. */
function shortPath(path: string): string {
  return path.replace('/api/v1', '').replace(/\/[^/]*\d[^/]{8,}/g, '/…');
}

/** `find users, insert outbox × 2`. */
function listOf(commands: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const command of commands) counts.set(command, (counts.get(command) ?? 0) + 1);
  return Array.from(counts, ([command, count]) => (count > 1 ? `${command} × ${count}` : command)).join(', ');
}

const eventPrefix = /^service\.auth\.events\./;

/** Returns the label of an arrow. */
export function textOf(saying: Saying, { sayings, notices }: Words, endReason: string | undefined): string {
  switch (saying.kind) {
    case 'request':
      return `${saying.method} ${shortPath(saying.path)}`;
    case 'answer':
      if (endReason === undefined) return String(saying.status);
      return sayings.ended(saying.status, notices.reasons[endReason as keyof typeof notices.reasons] ?? endReason);
    case 'transaction':
      return (saying.isCommitted ? sayings.transaction : sayings.rolledBack)(listOf(saying.commands));
    case 'commands':
      return listOf(saying.commands);
    case 'deliver':
      return deliveryText(saying, sayings);
    case 'close':
      return sayings.close(saying.reason);
    case 'stream_closed':
      return sayings.stream_closed(saying.code, saying.reason);
    case 'frame':
      return saying.isLost ? sayings.frameLost(saying.frame) : sayings.frame(saying.frame);
    default:
      return sayings[saying.kind];
  }
}

function deliveryText(
  { by, event, attempt, hasFailed }: Extract<Saying, { readonly kind: 'deliver' }>,
  sayings: Words['sayings'],
): string {
  const what = sayings.by[by];
  const name = event.replace(eventPrefix, '');
  if (hasFailed) return sayings.failed(what, name);
  return attempt > 1 ? sayings.again(what, name, attempt) : sayings.deliver(what, name);
}
