import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument, UserDocument } from '@auth-account/stores/documents';
import { secondFactorFields } from '@auth-account/stores/second-factors';
import { expect, test } from '@jest/globals';
import { lossBy } from './loss-by.ts';

const user_id = 'cook';
const at = (minute: number) => new Date(Date.UTC(2026, 10, 25, 10, minute));
const passkey = (id: string, created_at: Date) => ({ id, created_at }) as PasskeyDocument;
const [early, late] = [passkey('early', at(1)), passkey('late', at(3))];
const totp = (confirmed_at: Date) => ({ confirmed_at }) as NonNullable<UserDocument['totp']>;

/** Returns the loss, with what is announced of the account's sign-in methods that the write has removed. */
function remove(
  { passkeys = [], identities = [], ...user }: Partial<PresentUser>,
  which: Parameters<typeof lossBy>[1],
) {
  let events = 0;
  const nextOrigin = () => {
    events += 1;
    return { id: String(events), requestId: 'request-1', traceparent: undefined, at: at(9) };
  };
  const { signInMethods, gone, endsOrder, announce } = lossBy(
    { _id: user_id, ...user } as PresentUser,
    which,
    nextOrigin,
  );
  const { events: written, audit } = announce({ passkeys, identities });
  return {
    signInMethods,
    gone,
    endsOrder,
    events: written.map(({ id, type, data }) => [id, type.replace('service.auth.events.', ''), data]),
    audit,
  };
}

const identity = (id: string, created_at: Date) =>
  ({ id, provider: 'google', created_at }) as NonNullable<UserDocument['identities']>[number];

const from = (since: Date) => ({ passkeys: since, identities: since });
const nothing = { signInMethods: {}, gone: [], endsOrder: false, events: [], audit: [] };
const audited = (passkey_id: string) => ({ event: 'passkey.removed', user_id, session_id: undefined, passkey_id });
const eventOf = (id: string, passkey_id: string) => [
  id,
  'passkey_removed',
  { user_id, passkey_id, removed_at: at(9).toISOString() },
];
const switchedOff = { event: 'account.second_factor_off', user_id, session_id: undefined };
const offEvent = (id: string) => [
  id,
  'second_factor_changed',
  { user_id, changed_at: at(9).toISOString(), change: 'switched_off' },
];

test('a recovery that removes nothing keeps all credentials', () => {
  expect(remove({ totp: totp(at(2)) }, 'none')).toEqual(nothing);
});

test('an account without passkeys, identities and second factor loses none', () => {
  expect(remove({}, at(0))).toEqual({ ...nothing, signInMethods: from(at(0)) });
  expect(remove({}, 'all')).toEqual({ ...nothing, signInMethods: from(new Date(0)), gone: secondFactorFields });
});

test('internal services and the audit log get each credential that goes', () => {
  const unlinked = { user_id, identity_id: 'young', provider: 'google' };
  const identities = [identity('young', at(3))];
  expect(remove({ passkeys: [early, late], identities, totp: totp(at(2)) }, 'all')).toEqual({
    signInMethods: from(new Date(0)),
    gone: secondFactorFields,
    endsOrder: false,
    events: [
      eventOf('1', 'early'),
      eventOf('2', 'late'),
      ['3', 'identity_unlinked', { ...unlinked, unlinked_at: at(9).toISOString() }],
      offEvent('4'),
    ],
    audit: [
      audited('early'),
      audited('late'),
      { event: 'identity.unlinked', session_id: undefined, ...unlinked },
      switchedOff,
    ],
  });
});

test('a second factor that was confirmed at a time or after it goes, an earlier one stays', () => {
  expect(remove({ totp: totp(at(2)) }, at(3))).toEqual({ ...nothing, signInMethods: from(at(3)) });
  const off = { gone: secondFactorFields, events: [offEvent('1')], audit: [switchedOff] };
  expect(remove({ totp: totp(at(3)) }, at(3))).toEqual({ ...nothing, signInMethods: from(at(3)), ...off });
});

test('a mailbox order at that time or later ends, unless the factor goes or the order is due', () => {
  const orderOf = (by: 'mail' | 'staff') => ({ id: 'order', ordered_at: at(3), due_at: at(30), by });
  const ordered = (by: 'mail' | 'staff') => ({ ...totp(at(1)), removal: orderOf(by) });
  const stopped = { event: 'account.second_factor_removal_stopped', user_id, session_id: undefined };
  const lost = (which: Parameters<typeof lossBy>[1], user: Partial<PresentUser>) => {
    const { signInMethods: _, ...loss } = remove(user, which);
    return loss;
  };
  const { signInMethods: _, ...none } = nothing;
  const ended = { ...none, gone: ['totp.removal'], endsOrder: true, audit: [stopped] };
  expect(lost(at(3), { totp: ordered('mail') })).toEqual(ended);
  expect(lost(at(4), { totp: ordered('mail') })).toEqual(none);
  expect(lost(at(3), { totp: ordered('staff') })).toEqual(none);
  expect(lost('none', { totp: ordered('mail') })).toEqual(none);
  const off = { ...none, gone: secondFactorFields, events: [offEvent('1')], audit: [switchedOff] };
  expect(lost(at(1), { totp: ordered('mail') })).toEqual(off);
  expect(lost(at(3), { due_totp: ordered('mail') })).toEqual(none);
  expect(lost('all', { due_totp: ordered('mail') })).toEqual(off);
});
