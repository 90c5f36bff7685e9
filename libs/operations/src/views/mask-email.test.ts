import { expect, test } from '@jest/globals';
import { maskEmail, maskEmailsIn } from './mask-email.ts';

test.each([
  ['anna@example.com', 'a…@e….com'],
  ['a@b.c', 'a…@b….c'],
  ['anna@mail.example.co.uk', 'a…@m….uk'],
  ['anna@localhost', 'a…@l…'],
  ['"odd@place"@example.com', '"…@e….com'],
  ['анна@пример.рф', 'а…@п….рф'],
  ['anna@xn--e1afmkfd.xn--p1ai', 'a…@x….xn--p1ai'],
  // Characters of two UTF-16 units stay whole.
  ['😀smile@𝒳ample.com', '😀…@𝒳….com'],
])('the email address %s is masked as %s', (email, masked) => {
  expect(maskEmail(email)).toBe(masked);
});

test.each([
  ['550 5.1.1 <anna@example.com>: no such user', '550 5.1.1 <a…@e….com>: no such user'],
  ['"to":"anna@example.com","cc":["anna+x@mail.example.com"]', '"to":"a…@e….com","cc":["a…@m….com"]'],
  ['answered 503', 'answered 503'],
  [`${'x'.repeat(100)}@example.com`, `${'x'.repeat(36)}x…@e….com`],
])('the addresses in the text %j are masked', (text, masked) => {
  expect(maskEmailsIn(text)).toBe(masked);
});
