import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { findPrivacyFaults } from './privacy.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const sources = {
  page: read('docs/privacy.md'),
  documents: read('libs/stores/src/documents.ts') + read('libs/stores/src/event-documents.ts'),
  collections: read('libs/stores/src/collections.ts'),
};

test('docs/privacy.md names every field of every collection, and no other', () => {
  expect(findPrivacyFaults(sources)).toEqual([]);
});

test.each([
  ['a new field', 'readonly email_key: string;', 'readonly email_key: string;\n  readonly shoe_size?: number;'],
  ['a new field of a part', 'readonly ver: number;', 'readonly ver: number;\n  readonly shoe_size?: number;'],
  ['a new part', 'readonly uses: number;', 'readonly uses: number;\n  readonly by?: { readonly shoe_size: number };'],
])('%s that no row names is a fault', (_, before, after) => {
  const faults = findPrivacyFaults({ ...sources, documents: sources.documents.replace(before, after) });
  expect(faults).toEqual([
    expect.stringMatching(/^no row names (users|user_sessions\.claims|invites\.by)\.shoe_size$/),
  ]);
});

test('a row without its field, and a new collection, are faults', () => {
  const { documents, collections, page } = sources;
  const without = documents.replace('readonly display_name?: string;', '');
  expect(findPrivacyFaults({ ...sources, documents: without })).toEqual(['there is no field users.display_name']);
  const more = collections
    .replace('readonly users:', 'readonly friends: Collection<FormerEmail>;\n  readonly users:')
    .replace("users: db.collection('users')", "friends: db.collection('friends'),\n    users: db.collection('users')");
  expect(findPrivacyFaults({ ...sources, collections: more })).toEqual(
    ['change_id', 'email', 'email_key', 'until', 'verified_at'].map((field) => `no row names friends.${field}`),
  );
  expect(findPrivacyFaults({ ...sources, page: page.replaceAll('`uses`, ', '') })).toEqual([
    'no row names invites.uses',
  ]);
});
