import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { apiDocument } from './api-document.ts';

test('the document that is checked in is what the contract and the error catalogue make', async () => {
  const checkedIn = await readFile(new URL('../../../../../docs/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(apiDocument())).toEqual(JSON.parse(checkedIn));
});
