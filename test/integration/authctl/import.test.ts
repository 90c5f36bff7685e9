import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Algorithm, hash } from '@node-rs/argon2';
import { newEmail, password } from '../../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { type AuthctlOptions, authctl, authctlJson } from '../../support/processes/authctl.ts';

/** bcrypt of `password` at cost 4. */
const bcryptHash = '$2b$04$4Y40YxGsDf.ZlSjtbPfOuOeo5A0l5YxzS5lRk/.DcXwWFSF8qEJ1q';

let api: TestApi;
let options: AuthctlOptions;
let argon2id: string;
let argon2i: string;
beforeAll(async () => {
  api = await startTestApi({ ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' });
  options = { env: api.env };
  const cost = { memoryCost: 64, timeCost: 1, parallelism: 1 };
  [argon2id, argon2i] = (await Promise.all(
    [2, 1].map((algorithm) => hash(password, { ...cost, algorithm: algorithm as Algorithm })),
  )) as [string, string];
});
afterAll(() => api.close());

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-import-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function write(name: string, lines: readonly string[]): Promise<string> {
  await writeFile(join(dir, name), lines.join('\n'));
  return join(dir, name);
}

const header = 'email,password_hash,account_type,created_at,group';
const user = (email: string) => api.collections.users.findOne({ email_key: email.toLowerCase() });
const statusOfLogin = async (email: string) => (await api.logIn({ email, password })).status;

describe('user import', () => {
  test('user import makes accounts that log in with the password that they had elsewhere', async () => {
    const bcrypts = ['$2a$', '$2b$', '$2y$'].map((prefix) => bcryptHash.replace('$2b$', prefix));
    const hashes = [...bcrypts, argon2id, argon2i, argon2id.replace('m=64,t=1,p=1', 'm=64,p=1,t=1')];
    const emails = hashes.map(newEmail);
    const records = emails.map((email, i) => ({ email, password_hash: hashes[i], account_type: 'HOME' }));
    const file = await write(
      'users.jsonl',
      records.map((record) => JSON.stringify(record)),
    );
    expect(await authctlJson(['user', 'import', file], options)).toMatchObject({
      lines: 6,
      imported: 6,
      groups: 6,
      rejected: 0,
    });
    expect(await Promise.all(emails.map(statusOfLogin))).toEqual(hashes.map(() => 200));
  });

  test('user import puts people of one key into one group, whose first is its owner, also in a later file', async () => {
    const [owner, member, late, alone] = [newEmail(), newEmail(), newEmail(), newEmail()];
    const line = (email: string, group: string) => `${email},"${argon2id}",OFFICE,2024-02-29T10:00:00Z,${group}`;
    const first = await write('first.csv', [header, line(owner, 'acme'), line(alone, ''), line(member, 'acme')]);
    expect(await authctlJson(['user', 'import', first, '--batch', '2'], options)).toMatchObject({
      imported: 3,
      groups: 2,
    });
    const second = await write('second.csv', [header, line(owner, 'acme'), line(late, 'acme')]);
    expect(await authctlJson(['user', 'import', second], options)).toMatchObject({
      imported: 1,
      existing: 1,
      groups: 0,
    });

    const [a, b, c, d] = await Promise.all([owner, member, late, alone].map(user));
    expect(a).toMatchObject({ role: 'owner', account_type: 'OFFICE', created_at: new Date('2024-02-29T10:00:00Z') });
    for (const other of [b, c]) expect(other).toMatchObject({ role: 'member', home_group_id: a?.home_group_id });
    expect(d).toMatchObject({ role: 'owner' });
    expect(d?.home_group_id).not.toBe(a?.home_group_id);
    const group = await api.collections.groups.findOne({ _id: a?.home_group_id ?? '' });
    expect(group).toMatchObject({ owner_id: a?._id, member_count: 3, account_type: 'OFFICE', closed_at: null });

    // Another source may use the same group names.
    const otherUser = newEmail();
    const third = await write('third.csv', [header, line(otherUser, 'acme')]);
    await authctlJson(['user', 'import', third, '--group-namespace', 'other'], options);
    expect((await user(otherUser))?.home_group_id).not.toBe(a?.home_group_id);
  });

  test('user import distinguishes groups whose namespace and key read alike together', async () => {
    const [one, two] = [newEmail(), newEmail()];
    const file = (name: string, email: string, group: string) =>
      write(name, [header, `${email},"${argon2id}",HOME,,${group}`]);
    const namespaced = (path: string, namespace: string) =>
      authctlJson(['user', 'import', path, '--group-namespace', namespace], options);
    await namespaced(await file('one.csv', one, 'north/acme'), 'crm');
    expect(await namespaced(await file('two.csv', two, 'acme'), 'crm/north')).toMatchObject({ groups: 1 });
    expect((await user(two))?.home_group_id).not.toBe((await user(one))?.home_group_id);
  });

  test('user import leaves existing accounts as they are, however their email is written and however often it runs', async () => {
    const email = newEmail();
    const lines = [header, `${email},"${argon2id}",HOME,,`, `${email.toUpperCase()},${bcryptHash},OFFICE,,`];
    const file = await write('users.csv', lines);
    expect(await authctlJson(['user', 'import', file], options)).toMatchObject({ imported: 1, existing: 1 });
    const before = await user(email);
    expect(await authctlJson(['user', 'import', file], options)).toMatchObject({ imported: 0, existing: 2, groups: 0 });
    expect(await user(email)).toEqual(before);
  });

  test.each(['csv', 'jsonl'] as const)(
    'user import reports each bad line of %s with its number and reason, and loses no other',
    async (format) => {
      const good = [newEmail(), newEmail(), newEmail()];
      const secret = argon2id.split('$').at(-1) ?? '';
      const bad: [Record<string, string>, string][] = [
        [{ email: 'cook at example.com' }, 'email is no email address'],
        [{ account_type: 'FLAT' }, 'account_type is neither'],
        [{ password_hash: 'correct horse battery' }, 'neither bcrypt'],
        [{ password_hash: argon2id.replace('m=64', 'm=9999999') }, 'costs too much'],
        [{ password_hash: '' }, 'password_hash is missing'],
        [{ created_at: '2924-01-01T00:00:00Z' }, 'created_at is no time'],
      ];
      const fields = (email: string | undefined, changes: object) => ({
        email: email ?? newEmail(),
        password_hash: argon2id,
        account_type: 'HOME',
        created_at: '',
        group: '',
        ...changes,
      });
      const toLine = (record: object) =>
        format === 'jsonl'
          ? JSON.stringify(record)
          : Object.values(record)
              .map((value) => `"${value}"`)
              .join(',');
      const broken =
        format === 'jsonl' ? `{"email":"${newEmail()}","password_hash":"${argon2id}` : `"${newEmail()},${argon2id}`;
      const lines = [
        ...(format === 'csv' ? [header] : []),
        toLine(fields(good[0], {})),
        ...bad.map(([changes]) => toLine(fields(undefined, changes))),
        '',
        toLine(fields(good[1], {})),
        broken,
        toLine(fields(good[2], {})),
      ];
      const file = await write(`users.${format}`, lines);
      const run = await authctl(['user', 'import', file, '--json'], options);
      expect(run.exitCode).toBe(1);
      const result = JSON.parse(run.stdout);
      expect(result).toMatchObject({ imported: 3, rejected: bad.length + 1 });
      for (const email of good) expect(await user(email)).not.toBeNull();

      const begun = format === 'csv' ? 3 : 2;
      const reasons = new Map(
        result.rejected_lines.map(({ line, reason }: { line: number; reason: string }) => [line, reason]),
      );
      for (const [index, [, why]] of bad.entries()) expect(reasons.get(begun + index)).toContain(why);
      expect(reasons.get(begun + bad.length + 2)).toMatch(format === 'csv' ? /quote is not closed/ : /no JSON/);
      for (const [line, reason] of reasons) expect(run.stderr).toContain(`line ${line}: ${reason}`);
      expect(`${run.stdout}${run.stderr}`).not.toContain(secret);
    },
  );

  test('user import emits no event unless it is asked to, and then one per account in its transaction', async () => {
    const [silent, announced, joined] = [newEmail(), newEmail(), newEmail()];
    const line = (email: string, group: string) => `${email},"${argon2id}",HOME,,${group}`;
    await authctlJson(['user', 'import', await write('a.csv', [header, line(silent, '')])], options);
    const file = await write('b.csv', [header, line(announced, 'flat'), line(joined, 'flat')]);
    const { request_id } = await authctlJson(['user', 'import', file, '--emit-events'], options);
    expect(await api.collections.outbox.countDocuments({ 'event.subject': (await user(silent))?._id ?? '' })).toBe(0);
    const rows = await api.collections.outbox.find({ 'event.requestid': request_id }).sort({ _id: 1 }).toArray();
    expect(rows.map(({ event }) => event.data)).toMatchObject([
      { user_id: (await user(announced))?._id, space_creation_mode: 'CREATE_NEW_HOME', is_new_group: true },
      { user_id: (await user(joined))?._id, space_creation_mode: 'JOIN_EXISTING', is_new_group: false },
    ]);
  });

  test('user import writes nothing in a dry run', async () => {
    const email = newEmail();
    const file = await write('users.csv', [header, `${email},"${argon2id}",HOME,,`]);
    expect(await authctlJson(['user', 'import', file, '--dry-run'], options)).toMatchObject({
      imported: 1,
      dry_run: true,
    });
    expect(await user(email)).toBeNull();
  });

  test('a dry run of user import foresees what the batches of the real one do', async () => {
    const [owner, member, late, otherUser] = [newEmail(), newEmail(), newEmail(), newEmail()];
    const line = (email: string, type: string, group = '') => `${email},"${argon2id}",${type},,${group}`;
    const batches = [
      [line(owner, 'HOME', 'house'), line(member, 'HOME', 'house')],
      [line(owner.toUpperCase(), 'HOME'), line(otherUser, 'OFFICE', 'house')],
      [line(late, 'HOME', 'house'), line(member, 'OFFICE', 'house')],
    ];
    const file = await write('users.csv', [header, ...batches.flat()]);
    const run = (...more: string[]) => authctlJson(['user', 'import', file, '--batch', '2', ...more], options, 1);
    const counts = { lines: 6, imported: 3, existing: 2, groups: 1, rejected: 1 };
    const rejected_lines = [{ line: 5, reason: 'its group is HOME' }];
    const foreseen = await run('--dry-run');
    expect(await run()).toMatchObject({ ...counts, rejected_lines, dry_run: false });
    expect(foreseen).toMatchObject({ ...counts, rejected_lines, dry_run: true });
  });

  test.each([
    ['nothing in it', 'users.csv', [], 2, 'The first line must name the columns'],
    ['no header', 'users.csv', ['cook@example.com,x,HOME'], 2, 'The first line must name the columns'],
    ['a column that there is not', 'users.csv', [`${header},nickname`], 2, 'The first line must name the columns'],
    ['a name that shows no format', 'users.txt', [header], 2, 'give --format'],
  ])('user import refuses a file with %s', async (_case, name, lines, exitCode, why) => {
    const run = await authctl(['user', 'import', await write(name, lines)], options);
    expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(why) });
  });

  test('user import names a file that is not there', async () => {
    const run = await authctl(['user', 'import', join(dir, 'none.csv')], options);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('(ENOENT)') });
  });
});
