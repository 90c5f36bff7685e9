import type { Explanation } from '../explain.ts';

const folder = 'services/api/src/limits';

export const limits: readonly Explanation[] = [
  {
    file: `${folder}/address-limit.ts`,
    why: 'Nobody is refused for a time that is not there: it is no number above zero.',
    mutants: [['if (waitMs !== undefined) refuse(who, waitMs);', 'waitMs !== undefined', 'true']],
  },
  {
    file: `${folder}/code-limit.ts`,
    why: 'The key of a recipient has two parts and that of an account one: they differ whatever the first part is.',
    mutants: [
      ["const to = recipient === undefined ? undefined : insurance.add(JSON.stringify(['to', reci…", "'to'", '""'],
    ],
  },
];
