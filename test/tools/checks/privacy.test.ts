import { readFileSync } from 'node:fs';
import { describeAll, type StoredFields, storedFields } from '@auth-account/stores/stored-fields';
import { expect, test } from '@jest/globals';

const page = readFileSync('docs/privacy.md', 'utf8');
const rowsOfPage = page.split('\n').filter((line) => line.startsWith('| `'));

// guarantees: fields-documented
test('docs/privacy.md names every field of every collection', () => {
  const rows = Object.values<StoredFields>(storedFields).flatMap((fields) => fields.rows);
  expect(rows.length).toBeGreaterThan(50);
  for (const [fields, what] of rows) {
    const cell = fields.map((field) => `\`${field}\``).join(', ');
    expect(rowsOfPage).toContainEqual(expect.stringContaining(`| ${cell} | ${what} |`));
  }
});

// `npm run check types` fails here if any of these compiles.
test('a field without a row, a row without a field and a collection without rows do not compile', () => {
  const { users, ...others } = storedFields;
  const about = '';
  // @ts-expect-error
  describeAll({ ...storedFields, subscribers: { about, rows: [[['_id', 'topics'], 'state']] } });
  const rows = [...users.rows, [['shoe_size'], 'a field that is not there']] as const;
  // @ts-expect-error
  describeAll({ ...storedFields, users: { about, rows } });
  // @ts-expect-error
  expect(describeAll(others)).not.toHaveProperty('users');
});
