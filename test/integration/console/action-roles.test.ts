import { inviteRef } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ActionName } from '../../../services/console/src/contract/roles.ts';
import { newSession } from '../../support/api/accounts.ts';
import { makeResendDue, requestReset } from '../../support/api/codes.ts';
import { newInvite } from '../../support/api/invites.ts';
import { addPasskey } from '../../support/api/passkeys.ts';
import { guardedAccount, orderRemoval } from '../../support/api/second-factor.ts';
import { type ActionFields, type Client, openStaffApp, type StaffApp } from './staff-app.ts';

const [yes, no] = ['planned', 'forbidden'];

/** Every action: what a viewer, a member of support, an operator gets. */
const expected: readonly (readonly [ActionName, string, string, string])[] = [
  ['session.end', no, yes, yes],
  ['sessions.end_all', no, yes, yes],
  ['code.resend', no, yes, yes],
  ['limits.clear', no, yes, yes],
  ['password.void', no, yes, yes],
  ['factor_removal.order', no, yes, yes],
  ['factor_removal.stop', no, yes, yes],
  ['invite.revoke', no, yes, yes],
  ['deletion.cancel', no, yes, yes],
  ['deletion.order', no, no, yes],
  ['methods.remove', no, no, yes],
  ['account.disable', no, no, yes],
  ['account.enable', no, no, yes],
  ['account.export', no, no, yes],
  ['event.replay', no, no, yes],
  ['dead_letter.discard', no, no, yes],
  ['subscriber.suspend', no, no, yes],
  ['subscriber.resume', no, no, yes],
  ['subscriber.retry', no, no, yes],
];

let app: StaffApp;
let staff: readonly Client[];
let targets: Readonly<Record<ActionName, Omit<ActionFields, 'action'>>>;
beforeAll(async () => {
  app = await openStaffApp();
  targets = await prepareTargets();
  staff = [await app.hire('viewer'), await app.hire('support'), await app.hire('operator')];
});
afterAll(() => app.close());

/** Returns, for each action, a target and options for which the operation is possible. */
async function prepareTargets(): Promise<typeof targets> {
  const { users } = app.collections;
  const phone = await newSession(app);
  await addPasskey(app, phone);
  await makeResendDue(app, await requestReset(app, phone.email));
  const token = await newInvite(app, phone);
  const [guarded, removing] = [await guardedAccount(app), await guardedAccount(app)];
  await orderRemoval(app, removing.email);
  const [disabled, deleted] = [await newSession(app), await newSession(app)];
  await users.updateOne({ _id: disabled.user_id }, { $set: { disabled_at: new Date(), disabled_by: 'Olga' } });
  await users.updateOne({ _id: deleted.user_id }, { $set: { deletes_at: new Date(Date.now() + 86_400_000) } });
  const row = await app.collections.outbox.findOne({});
  const account = { target: phone.user_id };
  const subscriber = { target: 'analytics' };
  return {
    'session.end': { target: phone.session_id },
    'sessions.end_all': account,
    'code.resend': account,
    'limits.clear': account,
    'password.void': account,
    'factor_removal.order': { target: guarded.user_id },
    'factor_removal.stop': { target: removing.user_id },
    'invite.revoke': { target: inviteRef(token), options: { group_id: phone.home_group_id } },
    'deletion.cancel': { target: deleted.user_id },
    'deletion.order': { target: phone.user_id, options: { grace_days: 3 } },
    'methods.remove': { target: phone.user_id, options: { only: 'passkeys' } },
    'account.disable': account,
    'account.enable': { target: disabled.user_id },
    'account.export': account,
    'event.replay': { target: row?._id ?? '' },
    'dead_letter.discard': { target: row?._id ?? '', options: { subscriber: 'analytics' } },
    'subscriber.suspend': subscriber,
    'subscriber.resume': subscriber,
    'subscriber.retry': subscriber,
  };
}

test('the table of this test has every action', () => {
  expect(expected.map(([action]) => action).sort()).toEqual(Object.keys(targets).sort());
});

test.each(expected)(
  'the plan of %s, and the action itself, is for those whose role has the right',
  async (action, ...outcomes) => {
    const fields = { action, ...targets[action] };
    const before = await app.collections.users.find().sort({ _id: 1 }).toArray();
    for (const [index, by] of staff.entries()) {
      const { role } = by.staff;
      const planned = await by.plan(fields);
      // Nobody has been asked what this digest says, so whoever has the right gets 409.
      const acted = await by.act({ ...fields, digest: 'of nothing' });
      const isAllowed = outcomes[index] === 'planned';
      expect([role, planned.status, acted.status]).toEqual([role, ...(isAllowed ? [200, 409] : [403, 403])]);
      const wrong = { code: 'forbidden' };
      expect([planned.json, acted.json]).toMatchObject(
        isAllowed
          ? [{ digest: expect.stringMatching(/^[\w-]{43}$/), needs_consent: false }, { error: { code: 'changed' } }]
          : [{ error: wrong }, { error: wrong }],
      );
      if (isAllowed) expect(planned.json.question).toMatch(/\?/);
    }
    expect(await app.collections.users.find().sort({ _id: 1 }).toArray()).toEqual(before);
  },
);

test('a forbidden action is in the audit log with the person who tried it', async () => {
  const by = await app.hire('support');
  const { target } = targets['account.disable'];
  await by.act({ action: 'account.disable', target, digest: 'of nothing' });
  const { subject } = by.staff;
  expect(app.audited().at(-1)).toMatchObject({
    ...{ event: 'console.action', outcome: 'failure', error: 'forbidden', staff: subject },
    ...{ action: 'account.disable', target_kind: 'account', target },
  });
});
