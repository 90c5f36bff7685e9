import { randomUUID } from 'node:crypto';
import type { PresentUser } from '@auth-account/stores';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import type { EmailChangeStore } from '@auth-account/stores/email-changes';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientSession } from 'mongodb';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
let store: EmailChangeStore;
beforeAll(async () => {
  fixture = await openAccountFixture();
  store = fixture.deps.emailChanges;
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const after = (ms: number) => new Date(fixture.now().getTime() + ms);
const inTransaction = <T>(work: (session: ClientSession) => Promise<T>) =>
  fixture.mongo.withSession((session) => session.withTransaction(() => work(session)));
/** Runs the work in a transaction and rolls it back. */
const inVain = <T>(work: (session: ClientSession) => Promise<T>) =>
  fixture.mongo.withSession(async (session) => {
    session.startTransaction();
    const result = await work(session);
    await session.abortTransaction();
    return result;
  });

const formerOf = (email: string, until: Date): FormerEmail => ({
  change_id: randomUUID(),
  email,
  email_key: email.toLowerCase(),
  until,
});
const pending = () => ({ pending_email: 'New@example.com', pending_email_until: after(1) });

/** Changes of an account after which a request may no longer rely on what it has read. */
const changes: [string, Partial<UserDocument>][] = [
  ['password', { password_changed_at: new Date('2026-11-20T10:00:00.000Z') }],
  ['address', { email_key: 'other@example.com' }],
];

type Write = (seen: PresentUser, session: ClientSession) => Promise<boolean>;

/** Stores an account with a change under way, and another account, and writes to the first. */
async function write(work: Write) {
  const { pending_email, pending_email_until, ...user } = await fixture.user({ locale: 'ru', ...pending() });
  const other = await fixture.user(pending());
  expect(await inTransaction((session) => work({ ...user, ...pending() }, session))).toBe(true);
  expect(await fixture.storedUser(other._id)).toEqual(other);
  return { user, written: await fixture.storedUser(user._id) };
}

const noted: Write = (seen, session) => store.request(seen, 'Third@example.com', after(600), session);
const changed: Write = (seen, session) =>
  store.change(
    seen,
    {
      email: 'New@example.com',
      former: formerOf('Last@example.com', after(3)),
      known_devices: ['phone'],
      at: fixture.now(),
    },
    session,
  );
const undone: Write = async (seen, session) => {
  const [former, others] = [formerOf('Old@example.com', after(3)), [formerOf('Older@example.com', after(2))]];
  const left = { signInMethods: {}, gone: [], recovered: {} };
  const undo = { former, others, password_hash: 'nobody’s', ...left, at: fixture.now() };
  return (await store.undo(seen, undo, session)) !== undefined;
};

describe('the email address of an unconfirmed change', () => {
  test('the email address of an unconfirmed change is stored with its time', async () => {
    const { user, written } = await write(noted);
    const wanted = { pending_email: 'Third@example.com', pending_email_until: after(600) };
    expect(written).toEqual({ ...user, ...wanted, touches: 1 });
  });

  test('the email address of an unconfirmed change is removed when it has lapsed', async () => {
    const lapsed = await fixture.user({ pending_email: 'a@example.com', pending_email_until: fixture.now() });
    const open = await fixture.user(pending());
    await store.removeLapsedPending(fixture.now());
    const { pending_email, pending_email_until, ...left } = lapsed;
    expect([await fixture.storedUser(lapsed._id), await fixture.storedUser(open._id)]).toEqual([left, open]);
  });
});

test('a change sets the email address, and adds the one before it to those that it can be undone to', async () => {
  // A literal, although a path of MongoDB begins with this character.
  const address = { email: '$email@example.com', email_key: '$email@example.com' };
  const older = formerOf('Older@example.com', after(2));
  const user = await fixture.user({ ...address, ...pending(), pending_email: '$Email@example.com' });
  const { pending_email = '', pending_email_until, ...left } = user;
  const changeTo = (seen: UserDocument) => {
    const former = { change_id: randomUUID(), until: after(3) };
    const change = { email: pending_email, former, known_devices: ['phone'], at: fixture.now() };
    return inTransaction((session) => store.change(seen, change, session));
  };
  expect(await changeTo(user)).toBe(true);
  const changed = { ...left, email: pending_email, email_verified_at: fixture.now(), known_devices: ['phone'] };
  const former = { change_id: expect.any(String), ...address, until: after(3) };
  expect(await fixture.storedUser(user._id)).toEqual({ ...changed, former_emails: [former], touches: 1 });

  const again = { email_verified_at: new Date(1), former_emails: [older], pending_email };
  await fixture.collections.users.updateOne({ _id: user._id }, { $set: again });
  expect(await changeTo(user)).toBe(true);
  const verified = { ...former, email: pending_email, verified_at: new Date(1) };
  expect((await fixture.storedUser(user._id))?.former_emails).toEqual([older, verified]);
});

test('a change to an email address that is no longer wanted does nothing', async () => {
  const user = await fixture.user({ ...pending(), pending_email: 'Third@example.com' });
  expect(await inTransaction((session) => changed(user, session))).toBe(false);
  expect(await fixture.storedUser(user._id)).toEqual(user);
});

test('an undo sets the former email address and the hash, and leaves the account with no known device', async () => {
  const { user, written } = await write(undone);
  const { _id, change_id, ...older } = { _id: '', ...formerOf('Older@example.com', after(2)) };
  expect(written).toEqual({
    ...user,
    is_password_void: true,
    ...{ email: 'Old@example.com', email_key: 'old@example.com', email_verified_at: fixture.now() },
    former_emails: [{ ...older, change_id: expect.any(String) }],
    ...{ known_devices: [], password_hash: 'nobody’s', password_changed_at: fixture.now(), touches: 1 },
  });
});

describe.each([
  ['a note of a new email address', noted],
  ['a change', changed],
  ['an undo', undone],
])('%s', (name, work) => {
  test.each(changes)(`${name} does nothing if the %s was changed since`, async (_name, fields) => {
    const user = await fixture.user({ ...pending(), ...fields });
    const { password_changed_at, ...seen } = { ...user, email_key: user.email };
    expect(await inTransaction((session) => work(seen, session))).toBe(false);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });

  test(`${name} is undone with its transaction`, async () => {
    const user = await fixture.user(pending());
    expect(await inVain((session) => work(user, session))).toBe(true);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });
});

describe('the holder of an email address', () => {
  test('the holder of an email address is the account that has it or can get it back, with no more than a mail needs', async () => {
    const lapsed = formerOf('lapsed@example.com', fixture.now());
    const former_emails = [lapsed, formerOf('Old@example.com', after(1))];
    const { _id, email, email_key } = await fixture.user({ locale: 'ru', former_emails });
    await fixture.user();
    const holder = { _id, email_key, locale: 'ru' };
    expect(await store.findHolder(email.toUpperCase(), fixture.now())).toEqual(holder);
    expect(await store.findHolder('OLD@example.com', fixture.now())).toEqual(holder);
    expect(await store.findHolder('lapsed@example.com', fixture.now())).toBeUndefined();
    expect(await store.findHolder('nobody@example.com', fixture.now())).toBeUndefined();
  });

  test('the holder of an email address in a transaction is the one that the transaction has made', async () => {
    const user = await fixture.user(pending());
    const find = (session?: ClientSession) => store.findHolder('new@example.com', fixture.now(), session);
    const [inside, outside] = await inTransaction(async (session) => {
      await changed(user, session);
      return [await find(session), await find()];
    });
    expect([inside?._id, outside]).toEqual([user._id, undefined]);
  });

  test('the holder of an email address is found by the id of a change, in time or not', async () => {
    const former = formerOf('old@example.com', new Date(0));
    const user = await fixture.user({ former_emails: [former, formerOf('newer@example.com', after(1))] });
    await fixture.user({ former_emails: [formerOf('other@example.com', after(1))] });
    expect(await store.findByChange(former.change_id)).toEqual(user);
    expect(await store.findByChange(randomUUID())).toBeUndefined();
  });
});

describe('former email addresses', () => {
  test('former email addresses are listed when they have lapsed, of at most the given number of accounts', async () => {
    const [lapsed, open] = [formerOf('a@example.com', fixture.now()), formerOf('b@example.com', after(1))];
    const { _id: userId } = await fixture.user({ former_emails: [open, lapsed] });
    await fixture.user({ former_emails: [open] });
    await fixture.user();
    expect(await store.listLapsed(fixture.now(), 10)).toEqual([{ userId, former: [lapsed] }]);
    await fixture.user({ former_emails: [lapsed] });
    expect(await store.listLapsed(fixture.now(), 1)).toHaveLength(1);
  });

  test('former email addresses leave the account alone or all together, and no other account', async () => {
    const [one, two, three] = [after(1), after(2), after(3)].map((until) => formerOf('a@example.com', until));
    if (!one || !two || !three) throw new Error('three were made');
    const other = await fixture.user({ former_emails: [one] });
    const { former_emails, ...user } = await fixture.user({ former_emails: [one, two, three] });
    const remove = (...former: FormerEmail[]) => store.removeFormer({ userId: user._id, former });
    await remove(one, three);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, former_emails: [two] });
    await remove(two);
    expect(await fixture.storedUser(user._id)).toEqual(user);
    // As if another worker was faster.
    await remove(two);
    expect(await fixture.storedUser(user._id)).toEqual(user);
    expect(await fixture.storedUser(other._id)).toEqual(other);
  });
});
