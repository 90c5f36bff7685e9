import { expect, test } from '@jest/globals';
import { findJsonFault } from './find-json-fault.ts';

const json = '[{"name":"n\\u00e9\\n","url":null,"x":-1.5e+3,"b":[true,false,{}]}]';

test('a text that is JSON has no fault', () => {
  expect([json, '1', '"text"', ' {} \n'].map(findJsonFault)).toEqual([undefined, undefined, undefined, undefined]);
});

test.each(Array.from(json.slice(1), (_, index) => json.slice(0, index + 1)))(
  'the fault of a text that breaks off is at its end: %s',
  (text) => expect(findJsonFault(text)).toBe(`line 1, column ${text.length + 1}`),
);

test.each([
  ['a comma too much', '[1,]', 'line 1, column 4'],
  ['a comma too much in an object', '{"a":1,}', 'line 1, column 8'],
  ['a missing comma', '[\n  1\n  2]', 'line 3, column 3'],
  ['a missing colon', '{"a" "b"}', 'line 1, column 6'],
  ['single quotes', "{'a':1}", 'line 1, column 2'],
  ['a line break in a text', '["a\nb"]', 'line 1, column 4'],
  ['a wrong word', '[tru]', 'line 1, column 5'],
  ['something behind the end', '[1] y', 'line 1, column 5'],
  ['no JSON at all', 'x', 'line 1, column 1'],
  ['nothing', '', 'line 1, column 1'],
])('the fault of a text with %s is found', (_what, text, place) => {
  expect(findJsonFault(text)).toBe(place);
});
