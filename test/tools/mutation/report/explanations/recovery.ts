import type { Explanation } from '../explain.ts';

const hold = 'libs/stores/src/session-hold.ts';
const transaction = 'libs/stores/src/transactions/run-transaction.ts';
const waiting = 'services/api/src/usecases/await-hold.ts';

const pause = 'return Math.random() * Math.min(maximumPauseMs, firstPauseMs * 2 ** attempt);';

export const recovery: readonly Explanation[] = [
  {
    file: hold,
    why: 'A write that matches no session marks nothing and removes no mark.',
    mutants: [
      ['if (userIds.length === 0) return;', 'userIds.length === 0', 'false'],
      ['if (live === undefined) return;', 'live === undefined', 'false'],
    ],
  },
  {
    file: hold,
    why: 'MongoDB removes a field whatever value the update names for it.',
    mutants: [
      ["await sessions.updateMany({ ...live, 'hold.by': by }, { $unset: { hold: true } }, options…", 'true', 'false'],
    ],
  },
  {
    file: transaction,
    why: 'The length of a pause decides how often attempts meet, not what they do. Tests assert no absolute time.',
    mutants: [
      [
        'await delay(Math.min(pauseMs(attempt), deadline - performance.now()));',
        'deadline - performance.now()',
        'deadline + performance.now()',
      ],
      ['function pauseMs(attempt: number): number {', `{ ${pause} }`, '{}'],
      [
        pause,
        'Math.random() * Math.min(maximumPauseMs, firstPauseMs * 2 ** attempt)',
        'Math.random() / Math.min(maximumPauseMs, firstPauseMs * 2 ** attempt)',
      ],
      [
        pause,
        'Math.min(maximumPauseMs, firstPauseMs * 2 ** attempt)',
        'Math.max(maximumPauseMs, firstPauseMs * 2 ** attempt)',
      ],
      [pause, 'firstPauseMs * 2 ** attempt', 'firstPauseMs / 2 ** attempt'],
    ],
  },
  {
    file: transaction,
    why: 'The bounds of the lock are tested at the lock itself; a thousand waiting transactions would take minutes here.',
    mutants: [
      [
        'const inTurn = createKeyedLock({ waitMs: deadlineMs, maximumWaiting });',
        '{ waitMs: deadlineMs, maximumWaiting }',
        '{}',
      ],
    ],
  },
  {
    file: waiting,
    why: 'Only the memory of a session for which nobody waits any more: its count is 0 either way.',
    mutants: [['if (left === 0) waiting.delete(sessionId);', 'left === 0', 'false']],
  },
  {
    file: waiting,
    why: 'The same but for an instant of the clock.',
    mutants: [
      [
        'if (performance.now() - first.seenAt >= holdMs) {',
        'performance.now() - first.seenAt >= holdMs',
        'performance.now() - first.seenAt > holdMs',
      ],
    ],
  },
];
