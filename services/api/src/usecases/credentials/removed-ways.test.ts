import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument, UserDocument } from '@auth-account/stores/documents';
import { secondFactorFields } from '@auth-account/stores/second-factors';
import { expect, test } from '@jest/globals';
import { removedWays } from './removed-ways.ts';

const user_id = 'cook';
const at = (minute: number) => new Date(Date.UTC(2026, 10, 25, 10, minute));
const passkey = (id: string, created_at: Date) => ({ id, created_at }) as PasskeyDocument;
const [early, late] = [passkey('early', at(1)), passkey('late', at(3))];
const totp = (confirmed_at: Date) => ({ confirmed_at }) as NonNullable<UserDocument['totp']>;

/** Returns the removal, with its events and audit records as pairs of their kind and passkey. */
function remove(user: Partial<PresentUser>, which: Parameters<typeof removedWays>[1]) {
  let events = 0;
  const nextOrigin = () => {
    events += 1;
    return { id: String(events), requestId: 'request-1', traceparent: undefined, at: at(9) };
  };
  const ways = removedWays({ _id: user_id, ...user } as PresentUser, which, nextOrigin);
  return {
    left: ways.left,
    unlinked: ways.unlinked,
    gone: ways.gone,
    endsOrder: ways.endsOrder,
    events: ways.events.map(({ id, type, data }) => [id, type.replace('service.auth.events.', ''), data]),
    audit: ways.audit,
  };
}

const identity = (id: string, created_at: Date) =>
  ({ id, provider: 'google', created_at }) as NonNullable<UserDocument['identities']>[number];

const nothing = { left: {}, unlinked: [], gone: [], endsOrder: false, events: [], audit: [] };
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
  expect(remove({ passkeys: [early, late], totp: totp(at(2)) }, 'none')).toEqual(nothing);
});

test('an account without passkeys and second factor loses none', () => {
  expect(remove({}, at(0))).toEqual(nothing);
  expect(remove({}, 'all')).toEqual({ ...nothing, gone: secondFactorFields });
});

test('all credentials go, and siblings and the audit log get each of them', () => {
  expect(remove({ passkeys: [early, late], totp: totp(at(2)) }, 'all')).toEqual({
    left: { passkeys: [] },
    unlinked: [],
    gone: secondFactorFields,
    endsOrder: false,
    events: [eventOf('1', 'early'), eventOf('2', 'late'), offEvent('3')],
    audit: [audited('early'), audited('late'), switchedOff],
  });
});

test('identities go and stay as passkeys do', () => {
  const [old, young] = [identity('old', at(1)), identity('young', at(3))];
  const unlinked = (identity_id: string) => ({ user_id, identity_id, provider: 'google' });
  const eventOfIdentity = (id: string, identity_id: string) => [
    id,
    'identity_unlinked',
    { ...unlinked(identity_id), unlinked_at: at(9).toISOString() },
  ];
  const auditedOf = (identity_id: string) => ({
    event: 'identity.unlinked',
    session_id: undefined,
    ...unlinked(identity_id),
  });
  expect(remove({ passkeys: [early], identities: [old, young] }, at(3))).toEqual({
    ...nothing,
    left: { identities: [old] },
    unlinked: [young],
    events: [eventOfIdentity('1', 'young')],
    audit: [auditedOf('young')],
  });
  expect(remove({ identities: [old, young] }, 'all')).toEqual({
    ...nothing,
    left: { identities: [] },
    unlinked: [old, young],
    gone: secondFactorFields,
    events: [eventOfIdentity('1', 'old'), eventOfIdentity('2', 'young')],
    audit: [auditedOf('old'), auditedOf('young')],
  });
});

test('credentials that were added at a time or after it go, earlier ones stay', () => {
  expect(remove({ passkeys: [early, late], totp: totp(at(2)) }, at(3))).toEqual({
    left: { passkeys: [early] },
    unlinked: [],
    gone: [],
    endsOrder: false,
    events: [eventOf('1', 'late')],
    audit: [audited('late')],
  });
  expect(remove({ passkeys: [early], totp: totp(at(3)) }, at(3))).toEqual({
    left: {},
    unlinked: [],
    gone: secondFactorFields,
    endsOrder: false,
    events: [offEvent('1')],
    audit: [switchedOff],
  });
});

test('a mailbox order at that time or later ends, unless the factor goes or the order is due', () => {
  const orderOf = (by: 'mail' | 'staff') => ({ id: 'order', ordered_at: at(3), due_at: at(30), by });
  const ordered = (by: 'mail' | 'staff') => ({ ...totp(at(1)), removal: orderOf(by) });
  const stopped = { event: 'account.second_factor_removal_stopped', user_id, session_id: undefined };
  const ended = { ...nothing, gone: ['totp.removal'], endsOrder: true, audit: [stopped] };
  expect(remove({ totp: ordered('mail') }, at(3))).toEqual(ended);
  expect(remove({ totp: ordered('mail') }, at(4))).toEqual(nothing);
  expect(remove({ totp: ordered('staff') }, at(3))).toEqual(nothing);
  expect(remove({ totp: ordered('mail') }, 'none')).toEqual(nothing);
  const off = { ...nothing, gone: secondFactorFields, events: [offEvent('1')], audit: [switchedOff] };
  expect(remove({ totp: ordered('mail') }, at(1))).toEqual(off);
  expect(remove({ due_totp: ordered('mail') }, at(3))).toEqual(nothing);
  expect(remove({ due_totp: ordered('mail') }, 'all')).toEqual(off);
});
