import { describe, expect, test } from '@jest/globals';
import { readTokenHead, readTokenText } from './access-token-form.ts';

const encode = (text: string | Buffer) => Buffer.from(text as string).toString('base64url');
const signature = `${'A'.repeat(85)}A`;
const goodHead = '{"alg":"EdDSA","typ":"at+jwt","kid":"k"}';
const token = (head: string | Buffer = goodHead, body: string | Buffer = '{"a":1}', tail = signature) =>
  `${encode(head)}.${encode(body)}.${tail}`;
const read = (text: string) => readTokenText(text, 'at+jwt');

test('a token of this service reveals its algorithm, its key and its claims', () => {
  expect(read(token())).toEqual({ alg: 'EdDSA', kid: 'k', payload: { a: 1 } });
  const other = '{"typ":"at+jwt","kid":"","alg":"ES256"}';
  expect(read(token(other, '{}'))).toEqual({ alg: 'ES256', kid: '', payload: {} });
});

test.each(['A', 'Q', 'g', 'w'])('a signature may end in %s', (last) => {
  expect(read(token(undefined, undefined, signature.slice(1) + last))).toBeDefined();
});

test('a token has 4,096 characters at most', () => {
  const base = token(undefined, '{"a":""}').length;
  const ofLength = (length: number) => {
    const bytes = Math.floor(((length - base) * 3) / 4);
    return [bytes - 1, bytes, bytes + 1]
      .map((n) => token(undefined, `{"a":"${'x'.repeat(n)}"}`))
      .find((made) => made.length === length);
  };
  expect(read(ofLength(4_096) ?? '')).toBeDefined();
  const longer = [4_097, 4_098, 4_099].map(ofLength).filter((made) => made !== undefined);
  expect(longer.length).toBeGreaterThan(0);
  for (const made of longer) expect(read(made)).toBeUndefined();
});

test('the header of a token has 512 characters at most', () => {
  const ofLength = (length: number) => {
    const kid = 'x'.repeat(Math.floor((length * 3) / 4) - goodHead.length + 1);
    const made = token(goodHead.replace('"k"', `"${kid}"`));
    expect(made.indexOf('.')).toBe(length);
    return made;
  };
  expect(read(ofLength(512))).toBeDefined();
  // No base64url has 513 characters.
  expect(read(ofLength(514))).toBeUndefined();
});

test.each([
  ['two parts', ([head]: string[]) => `${head}.${signature}`],
  ['no separator before the signature', ([head, body]: string[]) => `${head}.${body}A${signature}`],
])('the header of a malformed token is not read either: %s', (_, made) => {
  const text = made(token().split('.'));
  expect(readTokenHead(text, 'at+jwt')).toBeUndefined();
  expect(read(text)).toBeUndefined();
});

describe('tokens that cannot be read', () => {
  const [head = '', body = ''] = token().split('.');

  test.each<[string, string]>([
    ['nothing', ''],
    ['something before it', ` ${token()}`],
    ['something after it', `${token()} `],
    ['a fourth part', `${token()}.${signature}`],
    ['two parts', `${head}.${body}`],
    ['no header', `.${body}.${signature}`],
    ['no claims', `${head}..${signature}`],
    ['a short signature', `${head}.${body}.${signature.slice(1)}`],
    ['a long one', `${head}.${body}.A${signature}`],
    ['a signature with bits that mean nothing', `${head}.${body}.${signature.slice(1)}B`],
    ['another separator', token().replaceAll('.', ':')],
    ['an odd character in the header', `${head}+.${body}.${signature}`],
    ['an odd character in the claims', `${head}.${body}/.${signature}`],
    ['an odd character in the signature', `${head}.${body}.${signature.slice(2)}+A`],
    ['padding', `${head}=.${body}.${signature}`],
    ['another algorithm', token('{"alg":"ES384","typ":"at+jwt","kid":"k"}')],
    ['an algorithm that every object has', token('{"alg":"toString","typ":"at+jwt","kid":"k"}')],
    ['no algorithm', token('{"typ":"at+jwt","kid":"k"}')],
    ['another type', token('{"alg":"EdDSA","typ":"JWT","kid":"k"}')],
    ['one header member more', token('{"alg":"EdDSA","typ":"at+jwt","kid":"k","b64":false}')],
    ['no kid', token('{"alg":"EdDSA","typ":"at+jwt"}')],
    ['a kid that is no text', token('{"alg":"EdDSA","typ":"at+jwt","kid":1}')],
    ['a header that is no object', token('"EdDSA"')],
    ['a header that is null', token('null')],
    ['a header that is no JSON', token('{"alg":')],
    ['claims that are null', token(undefined, 'null')],
    ['claims that are a list', token(undefined, '[]')],
    ['claims that are a number', token(undefined, '1')],
    ['claims that are no JSON', token(undefined, '{"a":1')],
    ['claims with white space', token(undefined, '{"a": 1}')],
    ['claims with one member twice', token(undefined, '{"a":1,"a":1}')],
    ['claims in another spelling', token(undefined, '{"a":1.0}')],
    ['claims that are no UTF-8', token(undefined, Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]))],
    [
      'claims with bits that mean nothing',
      `${head}.${body.slice(0, -1)}${body.endsWith('Q') ? 'R' : 'x'}.${signature}`,
    ],
  ])('a malformed token is not read: %s', (_, text) => {
    expect(read(text)).toBeUndefined();
  });
});
