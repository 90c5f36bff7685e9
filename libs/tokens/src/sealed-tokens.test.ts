import { describe, expect, test } from '@jest/globals';
import { generateSecretKey } from './generate-key.ts';
import { createSealedTokens } from './sealed-tokens.ts';
import { MissingKeyError } from './secrets.ts';

const content = { u: 'a user', x: 17 };

describe('sealed tokens', () => {
  const key = generateSecretKey();
  const tokens = createSealedTokens({ keys: [key] });
  const token = tokens.seal('step-up', content);

  test('a sealed token can be opened for its own purpose only', async () => {
    expect(await tokens.open('step-up', token)).toEqual(content);
    expect(await tokens.open('step-up-token', token)).toBeUndefined();
  });

  test('a sealed token reveals nothing, and is never the same twice', () => {
    expect(Buffer.from(token.split('.').at(-1) ?? '', 'base64url').toString('latin1')).not.toContain('a user');
    expect(tokens.seal('step-up', content)).not.toBe(token);
  });

  test('a sealed token is invalid after a change of any character, and one of its kid may name another key', async () => {
    for (let i = 0; i < token.length; i += 1) {
      const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
      const opened = tokens.open('step-up', changed);
      if (i < key.kid.length) await expect(opened).rejects.toThrow(MissingKeyError);
      else expect(await opened).toBeUndefined();
    }
  });

  test.each(['', '.', 'x', 'x.', '.x', `${key.kid}.`, `${key.kid}.AAAA`, `${token}=`, `${token} `, token.slice(0, -2)])(
    '%j is not a sealed token',
    async (text) => {
      expect(await tokens.open('step-up', text)).toBeUndefined();
    },
  );

  test('a sealed token stays valid after a rotation, until its key is removed', async () => {
    const newer = generateSecretKey();
    expect(await createSealedTokens({ keys: [newer, key] }).open('step-up', token)).toEqual(content);
    await expect(createSealedTokens({ keys: [newer] }).open('step-up', token)).rejects.toThrow(MissingKeyError);
  });

  test('a sealed token of a newer key is opened after the keys were read again', async () => {
    const newer = generateSecretKey();
    let keys = { keys: [key] as [typeof key, ...(typeof key)[]] };
    const source = {
      current: () => keys,
      reread: async () => {
        keys = { keys: [newer, key] };
      },
    };
    const made = createSealedTokens({ keys: [newer] }).seal('passkey', content);
    expect(await createSealedTokens(source).open('passkey', made)).toEqual(content);
  });
});
