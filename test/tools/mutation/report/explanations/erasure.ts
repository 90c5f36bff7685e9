import type { Explanation } from '../explain.ts';

export const erasure: readonly Explanation[] = [
  {
    file: 'libs/stores/src/deletion-store.ts',
    why: 'It spares MongoDB the rest of the document; nobody looks at that.',
    mutants: [
      [
        'const live = await sessions.find({ user_id, is_revoked: false }, { session, projection: {…',
        '{ _id: 1 }',
        '{}',
      ],
    ],
  },
];
