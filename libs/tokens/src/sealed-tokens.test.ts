import { describe, expect, test } from '@jest/globals';
import { generateSecretKey } from './generate-key.ts';
import { createSealedTokens, type SealedHead } from './sealed-tokens.ts';

const content = { u: 'a user', x: 17 };
const options = { awaitKey: async () => undefined, now: () => 1_764_000_000_999 };

describe('a sealed token', () => {
  const key = generateSecretKey();
  const tokens = createSealedTokens({ keys: [key] }, options);
  const token = tokens.seal('step-up', content);

  test('has its content for its own purpose only', async () => {
    expect(await tokens.open('step-up', token)).toEqual(content);
    expect(await tokens.open('step-up-token', token)).toBeUndefined();
  });

  test('shows nothing, and is never the same twice', () => {
    expect(Buffer.from(token.split('.').at(-1) ?? '', 'base64url').toString('latin1')).not.toContain('a user');
    expect(tokens.seal('step-up', content)).not.toBe(token);
  });

  test('is none after a change of any character', async () => {
    for (let i = 0; i < token.length; i += 1) {
      const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
      expect(await tokens.open('step-up', changed)).toBeUndefined();
    }
  });

  test.each([
    '',
    '.',
    'x',
    'x.',
    '.x',
    `${key.kid}.`,
    `${key.kid}.AAAA`,
    `${key.kid}.s0.AAAA`,
    `${token}=`,
    `${token} `,
    token.slice(0, -2),
  ])('is not %j', async (text) => {
    expect(await tokens.open('step-up', text)).toBeUndefined();
  });

  test('stays good after a rotation, until its key is removed', async () => {
    const newer = generateSecretKey();
    expect(await createSealedTokens({ keys: [newer, key] }, options).open('step-up', token)).toEqual(content);
    expect(await createSealedTokens({ keys: [newer] }, options).open('step-up', token)).toBeUndefined();
  });

  test('waits for its key by the time at which it was made', async () => {
    const newer = generateSecretKey();
    let keys = { keys: [key] as [typeof key, ...(typeof key)[]] };
    const heads: SealedHead[] = [];
    const awaitKey = async (head: SealedHead) => {
      heads.push(head);
      keys = { keys: [newer, key] };
    };
    const source = { current: () => keys, reread: async () => undefined };
    const made = createSealedTokens({ keys: [newer] }, options).seal('passkey', content);
    expect(await createSealedTokens(source, { ...options, awaitKey }).open('passkey', made)).toEqual(content);
    expect(heads).toEqual([{ kid: newer.kid, handed_out_at: new Date(1_764_000_000_000) }]);
  });

  test('waits for no key if its text is no token', async () => {
    const awaitKey = () => Promise.reject(new Error('waited'));
    const open = (text: string) => createSealedTokens({ keys: [key] }, { ...options, awaitKey }).open('step-up', text);
    expect(await open(`${key.kid}.AAAA`)).toBeUndefined();
    await expect(open(token)).rejects.toThrow('waited');
  });
});
