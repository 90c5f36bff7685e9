import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { apiDocument, streamDocument } from './documents.ts';

test.each([
  ['openapi.json', apiDocument],
  ['asyncapi.json', streamDocument],
])('docs/%s, as checked in, is what the contract and the error catalogue make', async (name, make) => {
  const checkedIn = await readFile(new URL(`../../../../../docs/${name}`, import.meta.url), 'utf8');
  expect(make()).toBe(checkedIn);
});
