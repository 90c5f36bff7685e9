import { randomUUID } from 'node:crypto';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  createRemoveLapsedEmails,
  type RemoveLapsedEmailsDeps,
} from '../../../services/worker/src/erasure/remove-lapsed-emails.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';

let fixture: AccountFixture;
/** Keys of email addresses whose devices and networks were forgotten, in order. */
let forgotten: string[];
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  forgotten = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

/** Time for requests that were under way when an email address lapsed. */
const grace = 60_000;
const ago = (ms: number) => new Date(fixture.now().getTime() - ms);

const removeLapsed = (given: Partial<RemoveLapsedEmailsDeps> = {}) => {
  const forgetKnown = async (keys: readonly string[]) => void forgotten.push(...keys);
  return createRemoveLapsedEmails({ ...fixture.deps, forgetKnown, ...given })();
};

const formerOf = (name: string, until: Date): FormerEmail => ({
  ...{ change_id: randomUUID(), email: `${name}@Example.com`, email_key: `${name}@example.com`, until },
});
const former = ({ _id }: UserDocument) => fixture.storedUser(_id).then((user) => user?.former_emails);

test('a round removes email addresses that have lapsed a minute ago, and forgets their known devices and networks', async () => {
  const open = formerOf('open', ago(grace - 1));
  const user = await fixture.user({ former_emails: [formerOf('one', ago(grace)), formerOf('two', ago(grace)), open] });
  const other = await fixture.user({ former_emails: [formerOf('three', ago(grace - 1))] });
  await removeLapsed();
  expect(await former(user)).toEqual([open]);
  expect(await fixture.storedUser(other._id)).toEqual(other);
  expect(forgotten).toEqual(['one@example.com', 'two@example.com']);
});

test('a round leaves the known devices and networks of an email address that somebody has now', async () => {
  const [one, two] = [formerOf('one', ago(grace)), formerOf('two', ago(grace))];
  const user = await fixture.user({ former_emails: [one, two] });
  await fixture.user({ email: one.email, email_key: one.email_key });
  await removeLapsed();
  expect([await former(user), forgotten]).toEqual([undefined, [two.email_key]]);
});

test('a round removes the email address of a change that has lapsed a minute ago', async () => {
  const until = (ms: number) => ({ pending_email: 'a@example.com', pending_email_until: ago(ms) });
  const [lapsed, open] = [await fixture.user(until(grace)), await fixture.user(until(grace - 1))];
  await removeLapsed();
  expect(await fixture.storedUser(lapsed._id)).not.toHaveProperty('pending_email');
  expect(await fixture.storedUser(open._id)).toEqual(open);
});

test('an email address whose known devices and networks could not be forgotten stays for the next round', async () => {
  const user = await fixture.user({ former_emails: [formerOf('one', ago(grace))] });
  const forgetKnown = () => Promise.reject(new Error('Redis is away'));
  await expect(removeLapsed({ forgetKnown })).rejects.toThrow('Redis is away');
  expect(await former(user)).toEqual(user.former_emails);
  await removeLapsed();
  expect([await former(user), forgotten]).toEqual([undefined, ['one@example.com']]);
});

test('a round goes on until no lapsed email address is left', async () => {
  const users = Array.from({ length: 101 }, (_, index) => ({
    ...newUserDocument(fixture.now()),
    former_emails: [formerOf(`former-${index}`, ago(grace))],
  }));
  await fixture.collections.users.insertMany(users);
  await removeLapsed();
  expect(await fixture.collections.users.countDocuments({ former_emails: { $exists: true } })).toBe(0);
  expect(new Set(forgotten).size).toBe(101);
});
