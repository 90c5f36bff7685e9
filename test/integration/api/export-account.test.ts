import { randomUUID } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createExportAccount,
  type ExportAccountDeps,
} from '../../../services/api/src/usecases/account/export-account.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  await fixture.clear();
  await fixture.collections.groups.deleteMany();
});
afterAll(() => fixture.close());

const ago = (ms: number) => new Date(fixture.now().getTime() - ms);
const iso = (ms: number) => ago(ms).toISOString();

/** Stores an account with a session, and exports it. */
async function exported(fields: Partial<UserDocument> = {}, given: Partial<ExportAccountDeps> = {}) {
  const user = await fixture.user(fields);
  const phone = await fixture.session({ user_id: user._id });
  return { user, phone, answer: await exportOf(phone, given) };
}
type Phone = Parameters<typeof bearerOf>[0];
const exportOf = (phone: Phone, given: Partial<ExportAccountDeps> = {}, current_password = 'correct horse battery') => {
  const exportAccount = async ({ _id }: Pick<UserDocument, '_id'>) => void fixture.limitCalls.push(['export', _id]);
  const deps = { ...fixture.deps, limits: { exportAccount }, ...given };
  return createExportAccount(deps)({ current_password }, bearerOf(phone), fixture.origin);
};

describe('an export', () => {
  test('an export contains everything that is stored about the caller, and nothing about anybody else', async () => {
    const change = { change_id: randomUUID(), email: 'Old@example.com', email_key: 'old@example.com', until: ago(-5) };
    const user = await fixture.user({
      ...{ last_login_at: ago(1), former_emails: [change], known_devices: ['phone'], joined_at: ago(2) },
      ...{ display_name: 'Ann', email_verified_at: ago(3), role: 'member', locale: 'ru' },
    });
    const { _id: user_id, home_group_id, account_type } = user;
    const group = { _id: home_group_id, account_type, owner_id: randomUUID(), name: 'Kitchen', member_count: 2 };
    await fixture.collections.groups.insertOne({ ...group, created_at: ago(9), closed_at: null });
    const device = { device_name: 'Pixel', platform: 'android' } as const;
    const phone = await fixture.session({ user_id, ...device, created_at: ago(7), last_used_at: ago(6) });
    const end = { is_revoked: true, revoked_at: ago(4), revoked_reason: 'logout' } as const;
    const ended = await fixture.session({ user_id, ...end });
    const asked = { created_at: ago(60_000), expires_at: ago(-540_000) };
    await fixture.challenge(user, 'password_reset', asked);
    const made = { home_group_id, account_type, created_at: ago(8), expires_at: ago(-8), max_uses: 5, uses: 1 };
    const invite = (fields: { created_by: string; revoked_at: Date | null; created_at?: Date }) =>
      fixture.collections.invites.insertOne({ _id: randomUUID(), ...made, ...fields });
    await invite({ created_by: user_id, revoked_at: ago(1) });
    await invite({ created_by: user_id, revoked_at: null, created_at: ago(9) });
    const otherUser = await fixture.user();
    await fixture.session({ user_id: otherUser._id });
    await fixture.challenge(otherUser, 'password_reset');
    await invite({ created_by: otherUser._id, revoked_at: null });

    const sessionOf = ({ document }: typeof phone, ended_at: string | null, end_reason: string | null) => ({
      ...{ session_id: document._id, device_id: document.device_id },
      ...{ device_name: document.device_name, platform: document.platform },
      ...{ home_group_id: document.claims.home_group_id, created_at: document.created_at.toISOString() },
      ...{ last_used_at: document.last_used_at.toISOString(), expires_at: document.expires_at.toISOString() },
      ...{ bound: false, authenticated_at: document.created_at.toISOString(), amr: ['pwd'], ended_at, end_reason },
    });
    const shown = { home_group_id, expires_at: iso(-8), max_uses: 5, uses: 1 };
    expect(await exportOf(phone)).toEqual({
      account: {
        ...{ user_id, email: user.email, email_verified: true, pending_email: null, display_name: 'Ann' },
        ...{ locale: 'ru', home_group_id, account_type, role: 'member', created_at: iso(0), has_password: true },
        ...{ password_changed_at: iso(0), last_login_at: iso(1), email_verified_at: iso(3), pending_email_until: null },
      },
      former_emails: [{ email: 'Old@example.com', undo_until: iso(-5) }],
      known_devices: ['phone'],
      passkeys: [],
      identities: [],
      second_factor: { confirmed_at: null, recovery_codes_left: 0, removal_due_at: null, trusted_devices: [] },
      codes: [{ purpose: 'password_reset', created_at: iso(60_000), expires_at: iso(-540_000) }],
      group: { home_group_id, name: 'Kitchen', account_type, role: 'member', joined_at: iso(2) },
      sessions: [sessionOf(phone, null, null), sessionOf(ended, iso(4), 'logged_out')],
      invites: [
        { ...shown, created_at: iso(8), revoked_at: iso(1) },
        { ...shown, created_at: iso(9), revoked_at: null },
      ],
      is_complete: true,
      timestamp: iso(0),
    });
    const ids = { user_id, session_id: phone.document._id };
    expect(fixture.audited).toEqual([[{ event: 'account.exported', ...ids }, fixture.origin]]);
    expect(fixture.limitCalls).toEqual([user.email, 'succeeded', ['export', user_id]]);
  });

  test('an export of a new account contains empty lists', async () => {
    const { answer } = await exported();
    expect(answer).toMatchObject({ account: { last_login_at: null }, group: { name: null }, is_complete: true });
    const { former_emails, known_devices, codes, invites } = answer;
    expect([former_emails, known_devices, codes, invites]).toEqual([[], [], [], []]);
  });

  test('an export that cannot hold everything says so', async () => {
    const sessions = { listHeld: async () => ({ sessions: [], hasMore: true }) };
    expect((await exported({}, { sessions })).answer.is_complete).toBe(false);
    const invites = { listMadeBy: async () => ({ invites: [], hasMore: true }) };
    expect((await exported({}, { invites })).answer.is_complete).toBe(false);
  });

  test('an export needs the password, and is counted after the check, before anything is read', async () => {
    const { phone } = await exported();
    const limits = { exportAccount: () => Promise.reject(new AppError('ERR-RATE-LIMITED')) };
    const sessions = { listHeld: () => Promise.reject(new Error('read')) };
    await expect(exportOf(phone, { limits, sessions })).rejects.toMatchObject({ code: 'ERR-RATE-LIMITED' });
    await expect(exportOf(phone, { limits }, 'wrong')).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
    expect(fixture.audited.map(([{ event }]) => event)).toEqual(['account.exported', 'reauthentication.failed']);
  });
});
