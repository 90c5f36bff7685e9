import { randomUUID } from 'node:crypto';
import type { PresentUser } from '@auth-account/stores';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import type { EmailChangeStore } from '@auth-account/stores/email-changes';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientSession } from 'mongodb';
import { type AccountScene, openAccountScene } from '../../support/account-scene.ts';

let scene: AccountScene;
let store: EmailChangeStore;
beforeAll(async () => {
  scene = await openAccountScene();
  store = scene.deps.emailChanges;
});
beforeEach(() => scene.clear());
afterAll(() => scene.close());

const after = (ms: number) => new Date(scene.now().getTime() + ms);
const inTransaction = <T>(work: (session: ClientSession) => Promise<T>) =>
  scene.mongo.withSession((session) => session.withTransaction(() => work(session)));
/** Runs the work in a transaction and rolls it back. */
const inVain = <T>(work: (session: ClientSession) => Promise<T>) =>
  scene.mongo.withSession(async (session) => {
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
  const { pending_email, pending_email_until, ...user } = await scene.user({ locale: 'ru', ...pending() });
  const other = await scene.user(pending());
  expect(await inTransaction((session) => work({ ...user, ...pending() }, session))).toBe(true);
  expect(await scene.storedUser(other._id)).toEqual(other);
  return { user, written: await scene.storedUser(user._id) };
}

const noted: Write = (seen, session) => store.request(seen, 'Third@example.com', after(600), session);
const changed: Write = (seen, session) =>
  store.change(
    seen,
    {
      email: 'New@example.com',
      former: formerOf('Last@example.com', after(3)),
      known_devices: ['phone'],
      at: scene.now(),
    },
    session,
  );
const undone: Write = async (seen, session) => {
  const [former, others] = [formerOf('Old@example.com', after(3)), [formerOf('Older@example.com', after(2))]];
  const left = { ways: {}, gone: [], recovered: {} };
  const undo = { former, others, password_hash: 'nobody’s', ...left, at: scene.now() };
  return (await store.undo(seen, undo, session)) !== undefined;
};

describe('the address of an unconfirmed change', () => {
  test('the address of an unconfirmed change is stored with its time', async () => {
    const { user, written } = await write(noted);
    const wanted = { pending_email: 'Third@example.com', pending_email_until: after(600) };
    expect(written).toEqual({ ...user, ...wanted, touches: 1 });
  });

  test('the address of an unconfirmed change is removed when it has lapsed', async () => {
    const lapsed = await scene.user({ pending_email: 'a@example.com', pending_email_until: scene.now() });
    const open = await scene.user(pending());
    await store.removeLapsedPending(scene.now());
    const { pending_email, pending_email_until, ...left } = lapsed;
    expect([await scene.storedUser(lapsed._id), await scene.storedUser(open._id)]).toEqual([left, open]);
  });
});

test('a change sets the address, and adds the one before it to those that it can be undone to', async () => {
  // A literal, although a path of MongoDB begins with this character.
  const address = { email: '$email@example.com', email_key: '$email@example.com' };
  const older = formerOf('Older@example.com', after(2));
  const user = await scene.user({ ...address, ...pending(), pending_email: '$Email@example.com' });
  const { pending_email = '', pending_email_until, ...left } = user;
  const changeTo = (seen: UserDocument) => {
    const former = { change_id: randomUUID(), until: after(3) };
    const change = { email: pending_email, former, known_devices: ['phone'], at: scene.now() };
    return inTransaction((session) => store.change(seen, change, session));
  };
  expect(await changeTo(user)).toBe(true);
  const changed = { ...left, email: pending_email, email_verified_at: scene.now(), known_devices: ['phone'] };
  const former = { change_id: expect.any(String), ...address, until: after(3) };
  expect(await scene.storedUser(user._id)).toEqual({ ...changed, former_emails: [former], touches: 1 });

  const again = { email_verified_at: new Date(1), former_emails: [older], pending_email };
  await scene.collections.users.updateOne({ _id: user._id }, { $set: again });
  expect(await changeTo(user)).toBe(true);
  const verified = { ...former, email: pending_email, verified_at: new Date(1) };
  expect((await scene.storedUser(user._id))?.former_emails).toEqual([older, verified]);
});

test('a change to an address that is no longer wanted does nothing', async () => {
  const user = await scene.user({ ...pending(), pending_email: 'Third@example.com' });
  expect(await inTransaction((session) => changed(user, session))).toBe(false);
  expect(await scene.storedUser(user._id)).toEqual(user);
});

test('an undo sets the former address and the hash, and leaves the account with no known device', async () => {
  const { user, written } = await write(undone);
  const { _id, change_id, ...older } = { _id: '', ...formerOf('Older@example.com', after(2)) };
  expect(written).toEqual({
    ...user,
    is_password_void: true,
    ...{ email: 'Old@example.com', email_key: 'old@example.com', email_verified_at: scene.now() },
    former_emails: [{ ...older, change_id: expect.any(String) }],
    ...{ known_devices: [], password_hash: 'nobody’s', password_changed_at: scene.now(), touches: 1 },
  });
});

describe.each([
  ['a note of a new address', noted],
  ['a change', changed],
  ['an undo', undone],
])('%s', (name, work) => {
  test.each(changes)(`${name} does nothing if the %s was changed since`, async (_name, fields) => {
    const user = await scene.user({ ...pending(), ...fields });
    const { password_changed_at, ...seen } = { ...user, email_key: user.email };
    expect(await inTransaction((session) => work(seen, session))).toBe(false);
    expect(await scene.storedUser(user._id)).toEqual(user);
  });

  test(`${name} is undone with its transaction`, async () => {
    const user = await scene.user(pending());
    expect(await inVain((session) => work(user, session))).toBe(true);
    expect(await scene.storedUser(user._id)).toEqual(user);
  });
});

describe('the holder of an address', () => {
  test('the holder of an address is the account that has it or can get it back, with no more than a mail needs', async () => {
    const lapsed = formerOf('lapsed@example.com', scene.now());
    const former_emails = [lapsed, formerOf('Old@example.com', after(1))];
    const { _id, email, email_key } = await scene.user({ locale: 'ru', former_emails });
    await scene.user();
    const holder = { _id, email_key, locale: 'ru' };
    expect(await store.findHolder(email.toUpperCase(), scene.now())).toEqual(holder);
    expect(await store.findHolder('OLD@example.com', scene.now())).toEqual(holder);
    expect(await store.findHolder('lapsed@example.com', scene.now())).toBeUndefined();
    expect(await store.findHolder('nobody@example.com', scene.now())).toBeUndefined();
  });

  test('the holder of an address in a transaction is the one that the transaction has made', async () => {
    const user = await scene.user(pending());
    const find = (session?: ClientSession) => store.findHolder('new@example.com', scene.now(), session);
    const [inside, outside] = await inTransaction(async (session) => {
      await changed(user, session);
      return [await find(session), await find()];
    });
    expect([inside?._id, outside]).toEqual([user._id, undefined]);
  });

  test('the holder of an address is found by the id of a change, in time or not', async () => {
    const former = formerOf('old@example.com', new Date(0));
    const user = await scene.user({ former_emails: [former, formerOf('newer@example.com', after(1))] });
    await scene.user({ former_emails: [formerOf('other@example.com', after(1))] });
    expect(await store.findByChange(former.change_id)).toEqual(user);
    expect(await store.findByChange(randomUUID())).toBeUndefined();
  });
});

describe('former addresses', () => {
  test('former addresses are listed when they have lapsed, of at most the given number of accounts', async () => {
    const [lapsed, open] = [formerOf('a@example.com', scene.now()), formerOf('b@example.com', after(1))];
    const { _id: userId } = await scene.user({ former_emails: [open, lapsed] });
    await scene.user({ former_emails: [open] });
    await scene.user();
    expect(await store.listLapsed(scene.now(), 10)).toEqual([{ userId, former: [lapsed] }]);
    await scene.user({ former_emails: [lapsed] });
    expect(await store.listLapsed(scene.now(), 1)).toHaveLength(1);
  });

  test('former addresses leave the account alone or all together, and no other account', async () => {
    const [one, two, three] = [after(1), after(2), after(3)].map((until) => formerOf('a@example.com', until));
    if (!one || !two || !three) throw new Error('three were made');
    const other = await scene.user({ former_emails: [one] });
    const { former_emails, ...user } = await scene.user({ former_emails: [one, two, three] });
    const remove = (...former: FormerEmail[]) => store.removeFormer({ userId: user._id, former });
    await remove(one, three);
    expect(await scene.storedUser(user._id)).toEqual({ ...user, former_emails: [two] });
    await remove(two);
    expect(await scene.storedUser(user._id)).toEqual(user);
    // As if another worker was faster.
    await remove(two);
    expect(await scene.storedUser(user._id)).toEqual(user);
    expect(await scene.storedUser(other._id)).toEqual(other);
  });
});
