import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { parseKeySet } from '@auth-account/verifier/access-token';
import { expect, test } from '@jest/globals';
import { createEmailChangeTokens, createRemovalStopTokens } from './email-change-token.ts';

const key = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const [first, second] = [key('s1'), key('s2')];
const set = (...keys: object[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const tokens = createEmailChangeTokens(set(first, second));

test('the token of a change is the HMAC over the change and the key, with the change’s id and key’s name', () => {
  const changeId = randomUUID();
  const id = changeId.replaceAll('-', '');
  const mac = createHmac('sha256', Buffer.from(first?.k ?? '', 'base64url'))
    .update(JSON.stringify(['email-change-undo', 's1', id]))
    .digest();
  const bytes = Buffer.concat([mac, Buffer.from(id, 'hex'), Buffer.from('s1')]);
  expect(tokens.issue(changeId)).toBe(bytes.toString('base64url'));
});

test('a token names its change, also to a process with another newest key', () => {
  const changeId = randomUUID();
  const token = tokens.issue(changeId);
  expect(tokens.verify(token)).toBe(changeId);
  expect(createEmailChangeTokens(set(key('s3'), first)).verify(token)).toBe(changeId);
});

test('a token with any one bit changed is invalid', () => {
  const bytes = Buffer.from(tokens.issue(randomUUID()), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(tokens.verify(changed.toString('base64url'))).toBeUndefined();
  }
});

test.each([
  ['of a key that is gone', () => createEmailChangeTokens(set(key('gone'))).issue(randomUUID())],
  ['of another secret', () => createEmailChangeTokens(set(key('s1'))).issue(randomUUID())],
  ['that stops a removal', () => createRemovalStopTokens(set(first)).issue(randomUUID())],
  ['in another spelling of the same bytes', () => `${tokens.issue(randomUUID())}=`],
  ['cut short', () => tokens.issue(randomUUID()).slice(0, -4)],
  ['without a key', () => randomBytes(48).toString('base64url')],
  ['empty', () => ''],
])('a token %s is invalid', (_, token) => {
  expect(tokens.verify(token())).toBeUndefined();
});

test('a token of a key that has just been made is valid once the key has arrived', async () => {
  const changeId = randomUUID();
  const token = createEmailChangeTokens(set(second)).issue(changeId);
  let current = set(first);
  const awaited = createEmailChangeTokens({
    current: () => current,
    async reread() {
      current = set(second, first);
    },
  });
  expect([awaited.verify(token), awaited.unprovenId(token)]).toEqual([undefined, changeId]);
  await awaited.rereadKeys();
  expect([awaited.verify(token), awaited.unprovenId(token)]).toEqual([changeId, undefined]);
});

test('only the id of a change that is a UUID has a token', () => {
  expect(() => tokens.issue('x')).toThrow('must be a UUID');
});
