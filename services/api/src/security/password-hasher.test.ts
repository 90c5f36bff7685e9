import { describe, expect, test } from '@jest/globals';
import { type Argon2Binding, loadArgon2, loadNodeBinding, loadNodeRsBinding } from './argon2-binding.ts';
import { createBcryptBinding } from './bcrypt-binding.ts';
import { createHashGate, type HashGate } from './hash-gate.ts';
import { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';

const cost = { memoryKib: 1024, passes: 2, lanes: 1 };
const gate = createHashGate({ slots: 2, queueLimit: 100, waitMs: 60_000 });
const hasherOf = async (argon2: Argon2Binding) =>
  createPasswordHasher({ argon2, bcrypt: createBcryptBinding(), gate, cost });

const client = { network: '192.0.2.1' };
const hash = (hasher: PasswordHasher, password: string) => hasher.admit(client, (turn) => turn.hash(password));
const verify = (hasher: PasswordHasher, stored: string | undefined, password: string) =>
  hasher.admit(client, (turn) => turn.verify(stored, password));

describe('bindings of Argon2', () => {
  test.each([
    ['@node-rs/argon2', loadNodeRsBinding, loadNodeBinding],
    ['argon2', loadNodeBinding, loadNodeRsBinding],
  ])(
    'a hash of %s verifies with the other binding, with the same parameters in the string',
    async (name, load, loadOther) => {
      const [binding, other] = [await load(), await loadOther()];
      expect(binding.name).toBe(name);
      const phc = await binding.hash('Käsekuchen 😀', cost);
      expect(phc).toMatch(/^\$argon2id\$v=19\$m=1024,(t=2,p=1|p=1,t=2)\$/);
      expect((await hasherOf(other)).isWeak(phc)).toBe(false);
      expect(await other.verify(phc, 'Käsekuchen 😀')).toBe(true);
      expect(await other.verify(phc, 'Käsekuchen')).toBe(false);
    },
  );

  test('the faster binding is used if it loads', async () => {
    expect((await loadArgon2()).name).toBe('@node-rs/argon2');
  });
});

describe('the password hasher', () => {
  test('the same password gives two different hashes', async () => {
    const hasher = await hasherOf(await loadArgon2());
    expect(await hash(hasher, 'password')).not.toBe(await hash(hasher, 'password'));
  });

  test('a missing stored hash matches nothing, and takes the same work', async () => {
    const verified: string[] = [];
    const real = await loadArgon2();
    const hasher = await hasherOf({
      ...real,
      verify(phc, password) {
        verified.push(phc);
        return real.verify(phc, password);
      },
    });
    expect(await verify(hasher, undefined, 'password')).toBe(false);
    expect(verified).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=1024,t=2,p=1\$/)]);
  });

  test('a lone surrogate does not match its replacement character', async () => {
    const hasher = await hasherOf(await loadArgon2());
    const stored = await hash(hasher, '12345678\ufffd');
    expect(await verify(hasher, stored, '12345678\ufffd')).toBe(true);
    expect(await verify(hasher, stored, '12345678\ud800')).toBe(false);
  });

  test.each([
    ['$argon2id$v=19$m=1024,t=2,p=1$c2FsdA$aGFzaA', false],
    ['$argon2id$v=19$m=4096,t=3,p=2$c2FsdA$aGFzaA', false],
    ['$argon2id$v=19$m=1024,p=1,t=2$c2FsdA$aGFzaA', false],
    ['$argon2id$v=19$m=1024,p=1,t=1$c2FsdA$aGFzaA', true],
    ['$argon2id$v=19$m=1023,t=2,p=1$c2FsdA$aGFzaA', true],
    ['$argon2id$v=19$m=1024,t=1,p=1$c2FsdA$aGFzaA', true],
    ['$argon2i$v=19$m=1024,t=2,p=1$c2FsdA$aGFzaA', true],
    ['$2b$10$abcdefghijklmnopqrstuv', true],
  ])('the hash %s is weaker than configured: %s', async (phc, isWeak) => {
    expect((await hasherOf(await loadArgon2())).isWeak(phc)).toBe(isWeak);
  });
});

describe('imported bcrypt hashes', () => {
  // One of the bcrypt test vectors that all implementations share (Openwall crypt_blowfish).
  const body = '$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';

  test.each(['2a', '2b', '2y'])(
    'an imported bcrypt hash verifies with the prefix $%s$, and is to be hashed again',
    async (version) => {
      const hasher = await hasherOf(await loadArgon2());
      expect(await verify(hasher, `$${version}${body}`, 'U*U')).toBe(true);
      expect(await verify(hasher, `$${version}${body}`, 'U*V')).toBe(false);
      expect(hasher.isWeak(`$${version}${body}`)).toBe(true);
    },
  );

  test('an imported bcrypt hash compares the bytes as they were typed, not those of NFKC', async () => {
    const hasher = await hasherOf(await loadArgon2());
    // A hash of the password with the ligature \ufb01, which NFKC turns into two letters.
    const { hash } = await import('@node-rs/bcrypt');
    const stored = await hash('\ufb01nance', { cost: 4 });
    expect(await verify(hasher, stored, '\ufb01nance')).toBe(true);
    expect(await verify(hasher, stored, 'finance')).toBe(false);
  });

  test('a lone surrogate does not match the character of its bytes, with bcrypt', async () => {
    const hasher = await hasherOf(await loadArgon2());
    const bcrypt = await import('@node-rs/bcrypt');
    const stored = await bcrypt.hash('12345678\ufffd', { cost: 4 });
    expect(await verify(hasher, stored, '12345678\ufffd')).toBe(true);
    expect(await verify(hasher, stored, '12345678\ud800')).toBe(false);
  });

  test('an imported bcrypt hash goes through the gate', async () => {
    const closed = createHashGate({ slots: 1, queueLimit: 0, waitMs: 60_000 });
    const end = Promise.withResolvers<void>();
    const held = closed.admit({ source: '192.0.2.9/32' }, (run) => run(() => end.promise));
    const hasher = await createPasswordHasher({
      argon2: await loadArgon2(),
      bcrypt: createBcryptBinding(),
      gate: closed,
      cost,
    });
    await expect(verify(hasher, `$2b${body}`, 'U*U')).rejects.toMatchObject({ code: 'ERR-OVERLOADED' });
    end.resolve();
    await held;
    expect(await verify(hasher, `$2b${body}`, 'U*U')).toBe(true);
  });
});

describe('waiting slots of one line', () => {
  test('waiting slots of one line are shared by all of its networks', async () => {
    const sources: string[] = [];
    const watched: HashGate = {
      ...gate,
      admit: (client, use) => gate.admit(client, use).finally(() => sources.push(client.source)),
    };
    const hasher = await createPasswordHasher({
      argon2: await loadArgon2(),
      bcrypt: createBcryptBinding(),
      gate: watched,
      cost,
    });
    for (const network of [
      '2001:db8:0:1::1',
      '2001:db8:0:ff::2',
      '2001:db8:0:100::1',
      '192.0.2.1',
      '::ffff:192.0.2.1',
    ]) {
      await hasher.admit({ network }, async () => undefined);
    }
    expect(sources).toEqual(['2001:db8::/56', '2001:db8::/56', '2001:db8:0:100::/56', '192.0.2.1/32', '192.0.2.1/32']);
  });
});
