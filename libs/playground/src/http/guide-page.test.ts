import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { guarantees } from '../../page/stories/guarantees.ts';
import { guidePage } from './guide-page.ts';

test.each(Object.entries(guarantees))(
  'the story %s leads to a guarantee that is in the guide',
  async (_, [id, text]) => {
    const guide = await readFile(new URL('../../../../docs/guarantees.md', import.meta.url), 'utf8');
    const sections = guide.split(/^## /m).map((section) => section.split('\n'));
    const lines = sections.find(([title = '']) => title.toLowerCase().replaceAll(' ', '-') === id) ?? [];
    expect(lines.filter((line) => line.startsWith('- ') && line.includes(text))).toHaveLength(1);
    expect((await guidePage('guarantees.md'))?.body).toContain(`<h2 id="${id}">`);
  },
);

test('a page of the specification that guides link to is shown', async () => {
  expect((await guidePage('specification/account.md'))?.body).toContain('<h3 id="limits-of-codes">');
});

test.each(['../package.json', 'unknown.md', 'guarantees.md/', 'adr/../../package.json', ''])(
  'only guides are shown: %j is not',
  async (name) => {
    expect(await guidePage(name)).toBeUndefined();
  },
);
