import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ActionName, actionRoles, type Role, roles } from '../../services/console/src/contract/roles.ts';
import { logOut } from '../support/api/accounts.ts';
import { newInvite } from '../support/api/invites.ts';
import { addPasskey } from '../support/api/passkeys.ts';
import { switchOn } from '../support/api/second-factor.ts';
import { hasChromium } from '../support/client/chromium.ts';
import { roleValues } from '../support/console/console-fixture.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import * as states from './console/account-states.ts';
import { openStaffPages, type StaffPages, screenHeight } from './console/staff-pages.ts';

/** Every action: its least role, the text of its button, and the views that have it. */
const actions: Readonly<Record<ActionName, readonly [Role, string, string]>> = {
  'session.end': ['support', 'End the session', 'account held'],
  'sessions.end_all': ['support', 'End all sessions', 'account held'],
  'code.resend': ['support', 'Send the code again', 'account'],
  'limits.clear': ['support', 'Clear the lock', 'account held'],
  'password.void': ['support', 'Void the password', 'account held'],
  'factor_removal.order': ['support', 'Order the removal of the second factor', 'account'],
  'factor_removal.stop': ['support', 'Stop the removal', 'held'],
  'invite.revoke': ['support', 'Revoke the invite', 'account group'],
  'deletion.cancel': ['support', 'Cancel the deletion', 'held'],
  'deletion.order': ['operator', 'Order the deletion', 'account'],
  'methods.remove': ['operator', 'Remove sign-in methods', 'account held'],
  'account.disable': ['operator', 'Disable the account', 'account'],
  'account.enable': ['operator', 'Enable the account', 'held'],
  'account.export': ['operator', 'Export the data', 'account held'],
  'event.replay': ['operator', 'Send again', 'event system'],
  'dead_letter.discard': ['operator', 'Discard', 'system'],
  'subscriber.suspend': ['operator', 'Suspend', 'system'],
  'subscriber.resume': ['operator', 'Resume', 'system'],
  'subscriber.retry': ['operator', 'Try now', 'system'],
};

type Phone = states.Phone;
let on: StaffPages;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const user = ({ user_id: _id }: Phone) => on.collections.users.findOne({ _id });
const billing = () => on.collections.subscribers.findOne({ _id: 'billing' });
const live = ({ user_id }: Phone) => on.collections.sessions.countDocuments({ user_id, is_revoked: false });

async function downloads({ email }: Phone, _: unknown, page: Page): Promise<boolean> {
  const link = page.getByRole('link', { name: 'Save the data as a file' });
  if ((await link.count()) === 0) return false;
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return (await readFile(await file.path(), 'utf8')).includes(email);
}

/** Steps that take an action, and the sign that it was taken. */
interface Way {
  /** Brings an account, which has one session, into a state in which the action can be taken. */
  readonly given?: states.State;
  /** Path of a view with the button, for what `given` has returned. By default the account's. */
  readonly path?: (phone: Phone, made: string) => string;
  /** Name of the one that is meant among several. */
  readonly about?: string;
  readonly choose?: string;
  /** Button that stands in its place when the dialog closes. */
  readonly next?: string;
  readonly isDone: (phone: Phone, made: string, page: Page) => Promise<boolean>;
}
const onAccount = ({ user_id }: Phone) => `/accounts/${user_id}`;
const onSystem = () => '/system';

const ways: Readonly<Record<ActionName, Way>> = {
  'session.end': { given: states.withTablet, about: 'Phone', isDone: async (phone) => (await live(phone)) === 1 },
  'sessions.end_all': { isDone: async (phone) => (await live(phone)) === 0 },
  'code.resend': { given: states.withCode, isDone: async (phone) => states.mailsTo(on, phone) === 2 },
  'limits.clear': { given: states.lockedOut, isDone: async (phone) => (await states.loginFrom(on, 3, phone)) === 200 },
  'password.void': { isDone: async (phone) => Boolean((await user(phone))?.is_password_void) },
  'factor_removal.order': {
    given: (phone) => switchOn(on, phone),
    isDone: async (phone) => (await user(phone))?.totp?.removal?.by === 'staff',
  },
  'factor_removal.stop': { given: states.losingFactor, isDone: async (phone) => !(await user(phone))?.totp?.removal },
  'invite.revoke': {
    ...{ given: (phone) => newInvite(on, phone), path: ({ home_group_id }) => `/groups/${home_group_id}` },
    isDone: async ({ home_group_id }) => Boolean((await on.collections.invites.findOne({ home_group_id }))?.revoked_at),
  },
  'deletion.cancel': { given: states.leaving, isDone: async (phone) => !(await user(phone))?.deletes_at },
  'deletion.order': {
    ...{ choose: '3', next: 'Cancel the deletion' },
    isDone: async (phone) => Math.round((Number((await user(phone))?.deletes_at) - Date.now()) / 86_400_000) === 3,
  },
  'methods.remove': {
    ...{ given: (phone) => addPasskey(on, phone), choose: 'passkeys' },
    isDone: async (phone) => !(await user(phone))?.passkeys?.length,
  },
  'account.disable': { isDone: async (phone) => (await states.loginFrom(on, 4, phone)) === 403 },
  'account.enable': { given: states.disabled, isDone: async (phone) => (await states.loginFrom(on, 5, phone)) === 200 },
  'account.export': { isDone: downloads },
  'event.replay': {
    ...{ given: states.registeredAtBilling, path: (_, id) => `/events/${id}`, about: 'billing' },
    isDone: async (_, id) => on.billing.ids().filter((one) => one === id).length === 2,
  },
  'dead_letter.discard': {
    ...{ given: states.withDeadLetter, path: onSystem },
    isDone: async (_, id) => (await on.stores.deadLetters.find(id)).length === 0,
  },
  // These three follow each other.
  'subscriber.suspend': {
    next: 'Resume: billing',
    path: onSystem,
    about: 'billing',
    isDone: async () => Boolean((await billing())?.parked_at),
  },
  'subscriber.resume': { path: onSystem, about: 'billing', isDone: async () => !(await billing())?.parked_at },
  'subscriber.retry': { path: onSystem, about: 'billing', isDone: async () => Boolean((await billing())?.retried_at) },
};

/** Waits for a view. The system's list of dead letters is read when somebody asks for it. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('main section').first().waitFor();
  if (path !== '/system') return;
  await button(page, 'Show: Dead letters').click();
  await page.getByText('Reading …').waitFor({ state: 'detached' });
}

/** Prepares the state, presses the action's button and confirms the plan. Returns the dialog and the sign. */
async function press(action: ActionName, page: Page, confirm: string) {
  const { given, path = onAccount, about, choose, isDone } = ways[action];
  const [, name] = actions[action];
  const phone = await states.newPhone(on);
  const made = String(await given?.(phone, on));
  const check = () => isDone(phone, made, page);
  expect(await check()).toBe(false);
  await open(page, path(phone, made));
  const row = page.getByRole('listitem').filter({ hasText: made });
  const label = about === undefined ? name : `${name}: ${about}`;
  await (action === 'dead_letter.discard'
    ? row.getByText(name, { exact: true })
    : page.getByRole('button', { name: label })
  ).click();
  const dialog = page.getByRole('dialog', { name, exact: true });
  if (choose !== undefined) await dialog.getByRole('combobox').selectOption(choose);
  await button(page, confirm).click();
  return { dialog, check };
}

/** Questions of support with states of an account, and what the answer says. */
const answers: readonly (readonly [state: string, question: string, says: RegExp, given: states.State])[] = [
  [
    'signed out',
    'Why was a device signed out?',
    /Phone \(ios\), .+ UTC\): the person logged out/,
    (phone) => logOut(on, phone),
  ],
  [
    'ended from a tablet',
    'Why was a device signed out?',
    /from another device\. The other device: Tablet/,
    states.endedByTablet,
  ],
  ['robbed', 'Why was a device signed out?', /a used refresh token came again/, states.withStolenToken],
  ['sent a code', 'Was the mail sent?', /Code \(reset the password\), .+accepted by mail, .+ UTC/, states.withCode],
  ['refused a mail', 'Was the mail sent?', /refused by mail: given up after 3 attempts, .+ 503/, states.withDeadLetter],
  ['out of mails', 'Was the mail sent?', /Code \(reset the password\): valid .+ mails left: 0,/, states.outOfMails],
  ['locked', 'Does a login work?', /fails now.+Logins from new networks are locked until .+ UTC/, states.lockedOut],
  ['disabled', 'Does a login work?', /The account is disabled since .+ UTC.+Disabled by Olga/, states.disabled],
  ['without a password', 'Does a login work?', /Nobody knows the password/, states.withoutPassword],
  [
    'losing its factor',
    'Which factors are there?',
    /recovery codes left: 10.+ordered by mail: due .+ UTC/,
    states.losingFactor,
  ],
  [
    'disabled by its provider',
    'Which providers are linked?',
    /apple, linked .+ Disabled by the provider, .+ Its mail relay is off since .+ UTC/,
    states.disabledByProvider,
  ],
  [
    'on two devices',
    'Which devices are signed in, and what has changed?',
    /(?=.*Phone \(ios\): since).*Tablet: since.+Password changed .+ UTC/,
    states.withTablet,
  ],
  ['to be erased', 'When is the deletion due?', /The account will be erased .+ UTC/, states.leaving],
];

(hasChromium() ? describe : describe.skip)('staff at the page of a console with all services', () => {
  beforeAll(async () => {
    const limits = { LOGIN_ACCOUNT_FREE_FAILURES: '2', LOGIN_ACCOUNT_FAILURES_PER_DAY: '2', TRUST_PROXY_HOPS: '1' };
    on = await openStaffPages('password.void', limits);
  });
  afterAll(() => on?.close());

  test('the tables of this test have every action with its role', () => {
    const least = Object.entries(actions).map(([action, [role]]) => [action, role]);
    expect(Object.fromEntries(least)).toEqual(actionRoles);
  });

  test.each(roles)(
    'a link leads a %s through the sign-in and the reason to the account, and each view has that role’s buttons',
    async (role) => {
      const [phone, held] = [await states.newPhone(on), await states.newPhone(on)];
      await switchOn(on, phone);
      await newInvite(on, phone);
      await states.withCode(phone, on);
      await states.heldBack(held, on);
      const event = await states.withDeadLetter(phone, on);
      // So that one can be resumed.
      await on.stores.subscribers.suspend('crm', { at: new Date(), eventId: 'operator' });
      const views = { account: onAccount(phone), held: onAccount(held), group: `/groups/${phone.home_group_id}` };

      const page = await on.signIn(role, `${views.account}?session=${phone.session_id}`);
      expect(await page.locator('main section').count()).toBe(0);
      await on.giveReason(page);
      await page.getByRole('note').filter({ hasText: 'It is signed in' }).waitFor();
      for (const [view, path] of Object.entries({ ...views, event: `/events/${event}`, system: '/system' })) {
        await open(page, path);
        if (view === 'system') await page.getByText('answered 503').first().waitFor();
        const shown = await page.locator('main button[aria-haspopup=dialog]').allTextContents();
        const isMine = (least: Role) => roles.indexOf(role) >= roles.indexOf(least);
        const mine = Object.values(actions).filter(
          ([least, , where]) => isMine(least) && where.split(' ').includes(view),
        );
        expect([view, [...new Set(shown)].sort()]).toEqual([view, mine.map(([, name]) => name).sort()]);
      }
      await page.context().close();
    },
  );

  const alone = (Object.keys(actions) as ActionName[]).filter((action) => action !== 'password.void');
  test.each(alone)('the button of %s does it after a confirmation, for the least role that may', async (action) => {
    const page = await on.pageOf(actions[action][0]);
    const { dialog, check } = await press(action, page, 'Confirm');
    await dialog.getByText('Done.').waitFor();
    await eventually('it is done', check);
    const { next } = ways[action];
    if (next === undefined) return;
    await button(page, 'Close').click();
    await button(page, next).waitFor();
  });

  test('an action that needs consent is asked for by one person, and done by another one who opens the link', async () => {
    const [asker, other] = [await on.pageOf('support'), await on.pageOf('operator')];
    const { dialog, check } = await press('password.void', asker, 'Ask a second person');
    const link = await dialog.getByRole('button', { name: `${on.console.origin}/consents/` }).textContent();
    await dialog.getByRole('link', { name: 'Consent' }).click();
    await asker.getByText('You asked for it').waitFor();
    expect([await button(asker, 'Consent: do it now').count(), await check()]).toEqual([0, false]);
    await other.goto(link ?? '');
    await button(other, 'Consent: do it now').click();
    await other.getByText('Done.').waitFor();
    expect(await check()).toBe(true);
    await asker.reload();
    await asker.getByText('Somebody has consented.').waitFor();
    await on.signOut('support');
    expect((await asker.request.get('/api/me')).status()).toBe(401);
  });

  test('a role that the provider takes away in mid-session takes its buttons, and the session when none is left', async () => {
    const phone = await states.newPhone(on);
    const page = await on.signIn('operator', onAccount(phone), 'oleg');
    await on.giveReason(page);
    await button(page, 'Disable the account').waitFor();
    const me = () => page.request.get('/api/me');
    const { people } = on.console.staff;
    people.set('oleg', { name: 'Oleg', roles: roleValues.viewer });
    await eventually('the role counts', async () => (await (await me()).json()).role === 'viewer');
    await button(page, 'Disable the account').click();
    await page.getByRole('alert').filter({ hasText: 'Your role does not have this right' }).waitFor();
    await button(page, 'Cancel').click();
    expect(await page.locator('main button[aria-haspopup=dialog]').count()).toBe(0);
    people.set('oleg', { name: 'Oleg', roles: [] });
    await eventually('the session is over', async () => (await me()).status() === 401);
    await button(page, 'Show: Timeline').click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await page.getByText(phone.user_id).count()).toBe(0);
  });

  test.each(answers)(
    'an account that is %s is explained on the first screen after one search',
    async (...[, question, says, given]) => {
      const phone = await states.newPhone(on);
      await given(phone, on);
      const page = await on.pageOf('viewer');
      await page.goto('/');
      await page.getByLabel('Search').fill(phone.email);
      await page.keyboard.press('Enter');
      const answer = page.getByRole('region', { name: 'Answers' }).locator('dl > div').filter({ hasText: question });
      await answer.waitFor();
      expect(await answer.textContent()).toMatch(says);
      const box = await answer.boundingBox();
      expect(box && box.y + box.height).toBeLessThan(screenHeight);
    },
  );
});
