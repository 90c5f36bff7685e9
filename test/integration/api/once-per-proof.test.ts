import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ServerSecrets } from '../../../services/api/src/security/server-secrets.ts';
import { createOncePerProof, spentBy } from '../../../services/api/src/usecases/proofs/once-per-proof.ts';
import { storesOf } from '../../support/stores-of.ts';
import { openUseCaseScene, type UseCaseScene } from '../../support/use-case-scene.ts';

let scene: UseCaseScene;
beforeAll(async () => {
  scene = await openUseCaseScene();
});
beforeEach(() => scene.clear());
afterAll(() => scene.close());

const newSecret = () => createSecretKey(randomBytes(32));
const [elder, newer] = [newSecret(), newSecret()];
const newSpend = (code = '12345678') => ({
  id: randomUUID(),
  proof: ['email_code', code, 'a device', null],
  until: new Date(Date.now() + 600_000),
});

/** Uses a challenge up under the first secret, and returns its record. */
async function use(spend: ReturnType<typeof newSpend>, ...secrets: ReturnType<ServerSecrets>) {
  const { spentProofs } = storesOf(scene.collections);
  const record = spentBy(spend, secrets);
  await spentProofs.spend({ ...record, at: scene.now() });
  return record;
}

/** Sends the proof again to an api with these secrets. */
function again(spend: ReturnType<typeof newSpend>, ...secrets: ReturnType<ServerSecrets>): Promise<string> {
  const { spentProofs } = storesOf(scene.collections);
  const oncePerProof = createOncePerProof({ spentProofs, secrets: () => secrets, now: scene.now });
  return oncePerProof(
    spend,
    async () => 'first',
    async () => 'again',
  );
}

test('the record of a use shows the proof to nobody without the server’s key', async () => {
  const spend = newSpend();
  const [record, other] = [spentBy(spend, [elder]), spentBy(spend, [newer])];
  expect(record.proof).not.toBe(other.proof);
  expect(spentBy(spend, [elder])).toEqual(record);
});

test('a repeat is known as long as its key is there', async () => {
  const spend = newSpend();
  await use(spend, elder);
  expect([await again(spend, elder), await again(spend, newer, elder)]).toEqual(['again', 'again']);
  await expect(again(spend, newer)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
});

test('another proof of a used challenge is none, and another challenge is not used', async () => {
  const spend = newSpend();
  await use(spend, elder);
  const other = { ...newSpend('87654321'), id: spend.id };
  await expect(again(other, elder)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  expect(await again(newSpend(), elder)).toBe('first');
});
