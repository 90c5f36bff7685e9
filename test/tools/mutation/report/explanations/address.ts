import type { Explanation } from '../explain.ts';

export const address: readonly Explanation[] = [
  {
    file: 'libs/stores/src/email-change-store.ts',
    why: 'Every document that is found has the list: its type alone says otherwise.',
    mutants: [['return found.map(({ _id, former_emails = [] }) => ({', '[]', '["Stryker was here"]']],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Without an account there is no such change: it is there for the type alone.',
    mutants: [['if (user === undefined || former === undefined) throw codeInvalid();', 'user === undefined', 'false']],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Every account that is found has the list: its type alone says otherwise.',
    mutants: [
      [
        'const former = user?.former_emails?.find(({ change_id }) => change_id === changeId);',
        'user?.former_emails?.find',
        'user?.former_emails.find',
      ],
      [
        'function othersOf({ email, email_key, former_emails = [] }: UserDocument, former: FormerE…',
        '[]',
        '["Stryker was here"]',
      ],
    ],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'An account that is found by a change has that change: it is there for the type alone.',
    mutants: [
      [
        'if (user === undefined || former === undefined) throw codeInvalid();',
        'user === undefined || former === undefined',
        'user === undefined && former === undefined',
      ],
      ['if (user === undefined || former === undefined) throw codeInvalid();', 'former === undefined', 'false'],
    ],
  },
  {
    file: 'services/api/src/usecases/undo-email-change.ts',
    why: 'Without an id no change is found, and the next check refuses that alike.',
    mutants: [['if (found === undefined) throw codeInvalid();', 'found === undefined', 'false']],
  },
];
