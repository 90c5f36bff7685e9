import { collectionsOf } from '@auth-account/stores';
import { storedFields } from '@auth-account/stores/stored-fields';
import type { Db } from 'mongodb';
import { generateSections, toTable } from './page-sections.ts';

/** Writes the tables of docs/privacy.md from the rows of stored fields. With --check it only compares. */

const names = collectionsOf({ collection: (name: string) => ({ collectionName: name }) } as unknown as Db);
const head = ['Field', 'What', 'Export', 'Kept'];

const parts = Object.entries(storedFields).map(([key, { about, rows }]) => {
  const columns = Math.max(...rows.map((row) => row.length));
  const cells = rows.map(([fields, ...rest]) => {
    const row = [fields.map((field) => `\`${field}\``).join(', '), ...rest];
    return head.slice(0, columns).map((_, column) => row[column] ?? '');
  });
  const { collectionName } = names[key as keyof typeof names];
  return `### \`${collectionName}\`\n\n${about}\n\n${toTable(head.slice(0, columns), cells)}`;
});
generateSections({ page: 'docs/privacy.md', generator: 'privacy', sections: { fields: parts.join('\n\n') } });
