import { describe, expect, test } from '@jest/globals';
import { parseJson } from './parse-json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

test('parseJson returns the value of a JSON text', () => {
  expect(parse(' {"a":[1,"ä",null],"b":{"a":true}} ')).toEqual({ a: [1, 'ä', null], b: { a: true } });
  expect(parse('"text"')).toBe('text');
});

describe('texts that parseJson refuses', () => {
  test.each([
    ['no JSON', Buffer.from('{"a":')],
    ['nothing', Buffer.from('')],
    ['a comment', Buffer.from('{} // fine')],
    ['a byte that is no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a byte order mark', Buffer.from('\ufeff{}')],
  ])('parseJson throws for %s', (_, bytes) => {
    expect(() => parseJson(bytes)).toThrow();
  });

  test.each([
    ['{"a":1,"a":1}'],
    ['{"a":1,"b":{},"a":2}'],
    ['{"a":1,"\\u0061":2}'],
    ['[{"b":{"c":{},"c":1}}]'],
    ['{"":1,"":2}'],
  ])('parseJson throws for two members of one name: %s', (text) => {
    expect(() => parse(text)).toThrow('an object has two members of one name');
  });
});

test.each([
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":2}]',
  '{"x":{"a":1},"y":{"a":2},"a":3}',
  '{"__proto__":1,"constructor":2}',
])('parseJson accepts a name once per object: %s', (text) => {
  expect(JSON.stringify(parse(text))).toBe(text);
});
