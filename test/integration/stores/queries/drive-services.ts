import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteName } from '@auth-account/contracts/http/routes';
import { logOut, newEmail, newSession, password, registerAccount } from '../../../support/api/accounts.ts';
import { bearer } from '../../../support/api/api-driver.ts';
import { goodRequests, sendTo } from '../../../support/api/good-requests.ts';
import { insertInvite, joinByInvite, refresh } from '../../../support/api/groups.ts';
import { addPasskey } from '../../../support/api/passkeys.ts';
import { guardedAccount, orderRemoval } from '../../../support/api/second-factor.ts';
import type { TestApi } from '../../../support/api/test-api.ts';
import { authctl } from '../../../support/processes/authctl.ts';
import { eventually } from '../../../support/worker/worker-fixture.ts';
import type { HotOperation } from '../../../tools/queries/known-queries.ts';

/**
 * Prepares each hot operation. The returned function does it once as usual, and once in each other way that an app
 * causes by itself.
 */
export const hotOperations: Readonly<Record<HotOperation, (api: TestApi) => Promise<() => Promise<unknown>>>> = {
  register: async (api) => async () => {
    const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    const key = { 'Idempotency-Key': crypto.randomUUID() };
    await api.registerAccount(body, key);
    await api.registerAccount(body, key);
  },
  async login(api) {
    const { email, device_id, user_id } = await newSession(api);
    // Nobody has counted the sessions of an old account.
    await api.collections.users.updateOne({ _id: user_id }, { $unset: { spent_touches: true } });
    const login = (id: string) => api.logIn({ email, password, device_id: id });
    return async () => {
      await login(device_id);
      await login(crypto.randomUUID());
    };
  },
  async refresh(api) {
    const session = await newSession(api);
    return async () => {
      let newest: { readonly refresh_token: string } = session;
      // As many refreshes as a block has hashes, because the last of them reads.
      for (let generation = 1; generation <= 8; generation += 1) newest = await refresh(api, newest);
      const next = await refresh(api, newest);
      // A repeated request gets the same answer.
      await refresh(api, newest);
      return next;
    };
  },
  'session read': (api) => readOf(api, 'listSessions'),
  'account read': (api) => readOf(api, 'findAccount'),
  async logout(api) {
    const [session, older] = [await newSession(api), await newSession(api)];
    await refresh(api, older);
    return async () => {
      await logOut(api, session);
      await logOut(api, older);
    };
  },
};

async function readOf(api: TestApi, name: 'listSessions' | 'findAccount') {
  const session = await newSession(api);
  return () => api[name](bearer(session));
}

/** Sends a request to every route. */
export async function driveRoutes(api: TestApi): Promise<void> {
  for (const name of Object.keys(goodRequests) as RouteName[]) {
    const { status, text } = await sendTo(name, api, await goodRequests[name](api));
    if (status >= 400) throw new Error(`${name} answered ${status}: ${text}`);
  }
  const owner = await registerAccount(api);
  const invite_token = await insertInvite(api, owner.home_group_id);
  await joinByInvite(api, invite_token);
}

/** Gives the worker work of every kind, and waits until the work is done. A worker must run. */
export async function driveWorker(api: TestApi): Promise<void> {
  const { users, outbox } = api.collections;
  const owner = await newSession(api);
  await joinByInvite(api, await insertInvite(api, owner.home_group_id));
  const alone = await newSession(api);
  const long = new Date(0);
  const dueIds = [owner.user_id, alone.user_id];
  await users.updateMany({ _id: { $in: dueIds } }, { $set: { deletes_at: long } });
  const lapsed = await newSession(api);
  const former = { change_id: crypto.randomUUID(), email: newEmail(), email_key: newEmail(), until: long };
  const changing = { former_emails: [former], pending_email: newEmail(), pending_email_until: long };
  await users.updateOne({ _id: lapsed.user_id }, { $set: changing });
  const guarded = await guardedAccount(api);
  await orderRemoval(api, guarded.email);
  await users.updateOne({ _id: guarded.user_id }, { $set: { 'totp.removal.due_at': long } });
  await eventually(
    'the due accounts are gone',
    async () => (await users.countDocuments({ _id: { $in: dueIds } })) === 0,
  );
  const isChanged = { _id: lapsed.user_id, former_emails: { $exists: false }, pending_email: { $exists: false } };
  await eventually('the lapsed email addresses are gone', async () => (await users.countDocuments(isChanged)) === 1);
  const isOff = { _id: guarded.user_id, totp: { $exists: false } };
  await eventually('the due second factor is gone', async () => (await users.countDocuments(isOff)) === 1);
  await eventually('the events are delivered', async () => (await outbox.countDocuments({ state: 'pending' })) === 0);
}

const why = ['--reason', 'a test'];
const week = ['--since', '7d'];
/** Only a hang takes longer. */
const patient = ['--timeout', '60s'];

/** Runs every command of authctl that reads or writes MongoDB. A worker must run. */
export async function driveAuthctl(api: TestApi, env: Readonly<Record<string, string>>): Promise<void> {
  const [one, two, gone] = [await newSession(api), await newSession(api), await newSession(api)];
  const { outbox } = api.collections;
  const [row] = await outbox.find({ 'event.subject': one.user_id }).toArray();
  const dir = await mkdtemp(join(tmpdir(), 'auth-account-drive-'));
  const file = join(dir, 'users.jsonl');
  const bcrypt = '$2b$04$4Y40YxGsDf.ZlSjtbPfOuOeo5A0l5YxzS5lRk/.DcXwWFSF8qEJ1q';
  const records = [1, 2].map(() => ({ email: newEmail(), password_hash: bcrypt, account_type: 'HOME', group: 'g1' }));
  const lines = records.map((record) => JSON.stringify(record));
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await authctl(args, { env });
    if (exitCode !== 0) throw new Error(`authctl ${args.join(' ')} exited with ${exitCode}: ${stdout}${stderr}`);
  };
  await run('events', 'list', ...week);
  await run('events', 'list', '--state', 'pending', '--until', '1h');
  await run('events', 'list', '--dead-letters', '--subscriber', 'analytics', ...week);
  await run('events', 'show', row?._id ?? '');
  await run('events', 'replay', row?._id ?? '', '--yes');
  const isDelivered = { _id: row?._id ?? '', state: 'delivered', replays: { $exists: true } } as const;
  await eventually('it is delivered again', async () => (await outbox.countDocuments(isDelivered)) === 1);
  await run('events', 'subscribers');
  await run('events', 'park', 'analytics');
  await run('events', 'resume', 'analytics');
  await run('sessions', 'list', '--user', one.email, '--revoked-since', '7d');
  await run('sessions', 'revoke', one.session_id, ...why, ...patient);
  await run('user', 'show', two.user_id);
  await run('user', 'logout', two.user_id, ...why, ...patient);
  await run('user', 'disable', two.user_id, ...why);
  await run('user', 'enable', two.user_id, ...why);
  await run('user', 'reset-password', two.user_id, ...why, '--yes');
  const { email } = await guardedAccount(api);
  for (const more of [['--yes'], ['--stop']]) await run('user', 'remove-second-factor', email, ...why, ...more);
  const keyed = await newSession(api);
  await addPasskey(api, keyed);
  await run('user', 'remove-ways-in', keyed.user_id, ...why, '--yes');
  await run('user', 'delete', gone.user_id, ...why, '--yes');
  await run('user', 'restore', gone.user_id, ...why);
  for (const some of [lines.slice(0, 1), lines]) {
    await writeFile(file, some.join('\n'));
    await run('user', 'import', file);
  }
  await rm(dir, { recursive: true });
  await run('trace', 'test-request-1');
  await run('doctor');
  // The probe finds no gateway, and still removes what it has created.
  await authctl(['probe', '--api-url', api.base, '--push-url', 'ws://127.0.0.1:9', ...patient], { env });
}
