import { readFileSync } from 'node:fs';
import { reactions } from '@auth-account/client/reactions';
import { expect, test } from '@jest/globals';

const read = (path: string) => readFileSync(path, 'utf8');

interface Row {
  readonly reaction: { readonly type: string };
}

/** Returns the error codes that this service answers in its operations and in handshakes of its streams. */
function answeredCodes(): string[] {
  const openApi = read('docs/openapi.json');
  const { channels } = JSON.parse(read('docs/asyncapi.json'));
  const ofOperations = [...openApi.matchAll(/"error_code": \{[^}]*"const": "([\w-]+)"/g)].map(([, code = '']) => code);
  return [...new Set([...ofOperations, ...Object.keys(channels.pushStream['x-handshake-errors'])])];
}

function answeredReactions(): string[] {
  const catalogue: Readonly<Record<string, Row>> = JSON.parse(read('docs/openapi.json'))['x-error-catalogue'];
  return answeredCodes().map((code) => catalogue[code]?.reaction.type ?? `none of ${code}`);
}

test('docs/errors.md has a text for every reaction to an error of this service, and no other', () => {
  const [, section = ''] = read('docs/errors.md').split('\n## Reactions\n');
  const described = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, type]) => type);
  expect(described.toSorted()).toEqual([...new Set(answeredReactions())].toSorted());
});

test('the client knows each reaction without the table of the other services', () => {
  expect(answeredCodes().filter((code) => !(code in reactions))).toEqual([]);
});
