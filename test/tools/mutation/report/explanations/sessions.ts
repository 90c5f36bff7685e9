import type { Explanation } from '../explain.ts';

export const sessions: readonly Explanation[] = [
  {
    file: 'libs/stores/src/fenced-sessions.ts',
    why: 'The driver does so by default; it is written down since all depends on it.',
    mutants: [
      [
        'return sessions.db.client.withSession({ causalConsistency: true }, async (session) => {',
        '{ causalConsistency: true }',
        '{}',
      ],
    ],
  },
  {
    file: 'libs/stores/src/fenced-sessions.ts',
    why: 'The fence is the same whichever document is read, or none, and one document is one batch.',
    mutants: [
      ["const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };", "{ _id: '' }", '{}'],
      [
        "const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };",
        "''",
        '"Stryker was here!"',
      ],
      ["const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };", 'true', 'false'],
    ],
  },
  {
    file: 'services/api/src/limits/settled-limit.ts',
    why: 'Where no request may wait, the count of those that wait is not below that share either.',
    mutants: [
      ['if (share === 0 || exact.refusedFor(who) > 0 || crowded.has(who)) return false;', 'share === 0', 'false'],
    ],
  },
  {
    file: 'services/api/src/usecases/session-lifetime.ts',
    why: 'Of two equal times it does not matter which.',
    mutants: [['return a < b ? a : b;', 'a < b', 'a <= b']],
  },
  {
    file: 'services/api/src/usecases/log-out-all.ts',
    why: 'It is written by the work before anybody reads it.',
    mutants: [
      ['let ended: readonly { reason: RevocationReason; ids: string[] }[] = [];', '[]', '["Stryker was here"]'],
      ['let isOver = false;', 'false', 'true'],
    ],
  },
  {
    file: 'services/api/src/usecases/log-out.ts',
    why: 'No session has no id: MongoDB is asked twice in vain, and the answer is the same.',
    mutants: [['sessionId !== undefined &&', 'sessionId !== undefined', 'true']],
  },
];
