import { describe, expect, test } from '@jest/globals';
import { type Argon2Binding, loadArgon2, loadNodeBinding, loadNodeRsBinding } from './argon2-binding.ts';
import { createHashGate } from './hash-gate.ts';
import { createPasswordHasher } from './password-hasher.ts';

const cost = { memoryKib: 1024, passes: 2, lanes: 1 };
const gate = createHashGate({ slots: 2, queueLimit: 100, waitMs: 10_000 });
const hasherOf = async (argon2: Argon2Binding) => createPasswordHasher({ argon2, gate, cost });

describe('the two bindings', () => {
  test.each([
    ['@node-rs/argon2', loadNodeRsBinding, loadNodeBinding],
    ['argon2', loadNodeBinding, loadNodeRsBinding],
  ])('what %s has hashed the other verifies, with the same parameters in the string', async (name, load, loadOther) => {
    const [binding, other] = [await load(), await loadOther()];
    expect(binding.name).toBe(name);
    const phc = await binding.hash('Käsekuchen 😀', cost);
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=1024,(t=2,p=1|p=1,t=2)\$/);
    expect((await hasherOf(other)).isWeak(phc)).toBe(false);
    expect(await other.verify(phc, 'Käsekuchen 😀')).toBe(true);
    expect(await other.verify(phc, 'Käsekuchen')).toBe(false);
  });

  test('the faster one is taken where it loads', async () => {
    expect((await loadArgon2()).name).toBe('@node-rs/argon2');
  });
});

describe('the hasher', () => {
  test('salts: the same password gives two hashes', async () => {
    const hasher = await hasherOf(await loadArgon2());
    expect(await hasher.hash('password')).not.toBe(await hasher.hash('password'));
  });

  test('without a stored hash nothing is right, and the work is done all the same', async () => {
    const verified: string[] = [];
    const real = await loadArgon2();
    const hasher = await hasherOf({
      ...real,
      verify(phc, password) {
        verified.push(phc);
        return real.verify(phc, password);
      },
    });
    expect(await hasher.verify(undefined, 'password')).toBe(false);
    expect(verified).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=1024,t=2,p=1\$/)]);
  });

  test('a lone surrogate is not the character that the bindings take it for', async () => {
    const hasher = await hasherOf(await loadArgon2());
    const stored = await hasher.hash('12345678\ufffd');
    expect(await hasher.verify(stored, '12345678\ufffd')).toBe(true);
    expect(await hasher.verify(stored, '12345678\ud800')).toBe(false);
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
  ])('%s is weaker than configured: %s', async (phc, isWeak) => {
    expect((await hasherOf(await loadArgon2())).isWeak(phc)).toBe(isWeak);
  });
});
