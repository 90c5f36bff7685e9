import { randomUUID } from 'node:crypto';
import { createStores } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { createEmailChangeTokens, generateSecretKey } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createEndSessions } from '../../../services/api/src/usecases/end-sessions.ts';
import {
  createUndoEmailChange,
  type UndoEmailChangeDeps,
} from '../../../services/api/src/usecases/undo-email-change.ts';
import { openUseCaseScene, type UseCaseScene } from '../../support/use-case-scene.ts';

const emailChangeTokens = {
  ...createEmailChangeTokens({ keys: [generateSecretKey()] }),
  rereadKeys: async () => undefined,
};

let scene: UseCaseScene;
let hashes: number;
beforeAll(async () => {
  scene = await openUseCaseScene();
});
beforeEach(async () => {
  hashes = 0;
  await scene.clear();
});
afterAll(() => scene.close());

/** These tests are not about hashes: one is the number of its call. */
const hasher: UndoEmailChangeDeps['hasher'] = {
  admit: (_client, use) => {
    hashes += 1;
    return use({ hash: async () => `hash ${hashes}`, verify: async () => false });
  },
};
const limits: UndoEmailChangeDeps['limits'] = { tryCode: async () => undefined, registered: async () => undefined };

/** Undoes the change, and calls `meanwhile` each time that it has read the account. */
function undo(undo_token: string, meanwhile: () => Promise<unknown>) {
  const { collections, sessions, users, announce, audit, transaction, origin, now } = scene;
  const { emailChanges, ...stores } = createStores(collections);
  const read: UndoEmailChangeDeps['emailChanges'] = {
    ...emailChanges,
    async findByChange(changeId) {
      const user = await emailChanges.findByChange(changeId);
      await meanwhile();
      return user;
    },
  };
  const deps = { ...stores, users, emailChangeTokens, hasher, limits, transaction, audit, now };
  const endSessions = createEndSessions({ sessions, announce, audit });
  const ids = { entityId: () => randomUUID(), groupId: () => randomUUID() };
  const publishEvent = () => undefined;
  return createUndoEmailChange({ ...deps, emailChanges: read, endSessions, ids, publishEvent })({ undo_token }, origin);
}

/** Stores an account that has changed its address. */
async function changedAccount() {
  const change_id = randomUUID();
  const old = `old-${change_id}@example.com`;
  const until = new Date(scene.now().getTime() + 3_600_000);
  const former = { change_id, email: old, email_key: old, verified_at: scene.now(), until };
  const user = await scene.user({ former_emails: [former], known_devices: [randomUUID()] });
  return { user, old, token: emailChangeTokens.issue(change_id) };
}

const set = (user: UserDocument, fields: Partial<UserDocument>) =>
  scene.collections.users.updateOne({ _id: user._id }, { $set: fields });
const stored = ({ _id }: UserDocument) => scene.collections.users.findOne({ _id });

describe('an undo of a change of the address', () => {
  test.each<[string, (n: number) => Partial<UserDocument>]>([
    ['a change of the password', (n) => ({ password_changed_at: new Date(n) })],
    ['another change of the address', (n) => ({ email_key: `thief-${n}@example.com` })],
  ])('wins against %s that comes in between, with one hash', async (_, fields) => {
    const { user, old, token } = await changedAccount();
    let reads = 0;
    const answer = await undo(token, async () => {
      reads += 1;
      if (reads <= 4) await set(user, fields(reads));
    });
    expect(answer).toMatchObject({ message: 'EMAIL_CHANGE_UNDONE' });
    expect(await stored(user)).toMatchObject({ email: old, email_key: old, password_hash: 'hash 1' });
    expect([reads, hashes]).toEqual([5, 1]);
    expect(await scene.collections.outbox.countDocuments()).toBe(2);
  });

  test('is refused with 403 if the change is gone meanwhile', async () => {
    const { user, token } = await changedAccount();
    const lost = undo(token, () => set(user, { former_emails: [], password_changed_at: scene.now() }));
    await expect(lost).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
    expect((await stored(user))?.email).toBe(user.email);
  });

  test('asks for another try, and changes nothing, if changes do not end', async () => {
    const { user, token } = await changedAccount();
    let reads = 0;
    const lost = undo(token, async () => {
      reads += 1;
      await set(user, { password_changed_at: new Date(reads) });
    });
    await expect(lost).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });
    expect((await stored(user))?.email).toBe(user.email);
    expect(await scene.collections.outbox.countDocuments()).toBe(0);
  });
});
