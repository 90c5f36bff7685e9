import { logoutTable, streamsTable } from '../push/tables.ts';
import type { PushResult } from './results.ts';
import { paragraphs, type Section } from './section.ts';

export function pushSection({ streams, logouts }: PushResult): Section {
  return {
    heading: 'Push streams',
    text: paragraphs(
      'The first table is about idle authenticated streams on one gateway. It also shows the time from a command over Redis to its close frame, with all these streams open and four commands in flight. The kernel’s memory is that of both ends, because both are on this machine. If the process collects garbage during the measurement, it may need less memory with streams than it did empty. Then the figure is too low, or negative.',
      streamsTable(streams),
      'Logouts over HTTP at the real api, after 2,000 that don’t count. The stream of each session is open at the gateway. The bare write changes one session’s document, as a logout does:',
      logoutTable(logouts),
    ),
  };
}
