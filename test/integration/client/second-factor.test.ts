import type { AuthError } from '@auth-account/client';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { codeAt, wrongCodeFor } from '../../support/api/second-factor.ts';
import {
  type ClientFixture,
  codeOf,
  noStream,
  openClientFixture,
  type TestApp,
} from '../../support/client/client-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const confirmPath = '/login/second-factor';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

interface GuardedApp extends TestApp {
  readonly email: string;
  readonly secret: string;
  readonly recovery: (index: number) => { readonly method: 'recovery_code'; readonly code: string };
}

/** An app whose user has switched the second factor on, and has logged out. */
async function guarded(): Promise<GuardedApp> {
  const app = await fixture.signedIn(noStream);
  const { secondFactor } = app.client;
  const { factor_id, secret } = await secondFactor.createTotp({ current_password: password });
  const { recovery_codes } = await secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
  await app.client.logOut();
  return { ...app, secret, recovery: (index) => ({ method: 'recovery_code', code: recovery_codes[index] ?? '' }) };
}

const begin = ({ client, email }: GuardedApp) => client.logIn({ email, password });
const refusal = (work: Promise<unknown>): Promise<AuthError> =>
  work.then(
    () => undefined as never,
    (error) => error,
  );
const live = (user_id: string) => fixture.api.collections.sessions.countDocuments({ user_id, is_revoked: false });
const trustedIn = ({ storage }: TestApp) => storage.content.get('auth-account.trusted');
const statuses = ({ events }: TestApp) =>
  events.flatMap((event) => (event.type === 'second_factor' ? [event.status] : []));

test('a login waits for the second factor, which completes it', async () => {
  const app = await guarded();
  const { secondFactor } = app.client;
  const refused = await refusal(begin(app));
  expect(refused).toMatchObject({ code: 'ERR-SECOND-FACTOR-REQUIRED', reaction: { type: 'ASK_SECOND_FACTOR' } });
  expect(secondFactor.waiting()).toMatchObject({ methods: ['totp', 'recovery_code'], expires_at: expect.any(String) });
  expect(app.client.state().status).toBe('signed_out');

  const wrong = await refusal(secondFactor.confirm({ method: 'totp', code: wrongCodeFor(app.secret) }));
  expect(wrong).toMatchObject({ code: 'ERR-SECOND-FACTOR-INVALID', details: { tries_left: 4 } });
  const session = await secondFactor.confirm({ method: 'totp', code: codeAt(app.secret, Date.now(), 1) });
  expect(app.client.state()).toEqual({ status: 'signed_in', session });
  expect(secondFactor.waiting()).toBeUndefined();
  expect(statuses(app)).toEqual(['waiting', 'over']);
  expect((await secondFactor.find()).trusted_devices).toEqual([]);
});

test('a login that was given up, or whose challenge is over, waits no longer', async () => {
  const app = await guarded();
  const { secondFactor } = app.client;
  await codeOf(begin(app));
  secondFactor.giveUp();
  expect(secondFactor.waiting()).toBeUndefined();
  expect(await codeOf(secondFactor.confirm(app.recovery(0)))).toBe('CLIENT_SUPERSEDED');

  await codeOf(begin(app));
  expect(await codeOf(secondFactor.confirm({ ...app.recovery(0), challenge_id: 'of.nobody' }))).toBe(
    'ERR-CODE-EXPIRED',
  );
  expect(secondFactor.waiting()).toBeUndefined();
  expect(statuses(app)).toEqual(['waiting', 'over', 'waiting', 'over']);
});

test('a lost answer is asked for again, and opens one session', async () => {
  const app = await guarded();
  await codeOf(begin(app));
  app.network.plan(confirmPath, 'answer_lost');
  const { user_id } = await app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true });
  expect(app.network.to(confirmPath).map(({ body }) => body)).toEqual(
    Array(2).fill(app.network.to(confirmPath)[0]?.body),
  );
  expect(await live(user_id)).toBe(1);
  expect((await app.client.account.find()).email).toBe(app.email);

  // If both answers are lost, the app's own repetition gets the session.
  await app.client.logOut();
  app.storage.content.delete('auth-account.trusted');
  await codeOf(begin(app));
  app.network.plan(confirmPath, 'answer_lost', 'answer_lost');
  expect(await codeOf(app.client.secondFactor.confirm(app.recovery(1)))).toBe('CLIENT_NETWORK');
  await app.client.secondFactor.confirm(app.recovery(1));
  expect((await app.client.sessions.list()).sessions).toHaveLength(1);
});

test('a logout that overtakes the second factor leaves no session', async () => {
  const app = await guarded();
  await codeOf(begin(app));
  app.network.plan(confirmPath, 'answer_held');
  const confirmed = codeOf(app.client.secondFactor.confirm(app.recovery(0)));
  await eventually('the session is open', async () => app.network.held() === 1);
  await app.client.logOut();
  app.network.release();
  expect(await confirmed).toBe('CLIENT_SUPERSEDED');
  expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
  const account = await fixture.api.collections.users.findOne({ email: app.email });
  await eventually('the service knows of the logout', async () => (await live(account?._id ?? '')) === 0);
});

test('a trusted device logs in without the second factor, also after a restart, until the trust ends', async () => {
  const app = await guarded();
  await codeOf(begin(app));
  const { device_id } = await app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true });
  await app.client.logOut();
  const later = { ...app, ...app.restart() };
  await begin(later);
  expect((await later.client.secondFactor.find()).trusted_devices).toEqual([expect.objectContaining({ device_id })]);
  const token = JSON.parse(later.network.to('/login')[0]?.body ?? '').trusted_device_token;
  expect(trustedIn(later)).toContain(token);
  expect(trustedIn(later)).not.toContain(app.email);

  await later.client.secondFactor.deleteTrustedDevice(device_id);
  expect(trustedIn(later)).toBe('[]');
  await later.client.logOut();
  expect(await codeOf(begin(later))).toBe('ERR-SECOND-FACTOR-REQUIRED');
});

test('a token that counts no longer is sent once, and another user’s login never sends it', async () => {
  const app = await guarded();
  await codeOf(begin(app));
  const { user_id } = await app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true });
  await app.client.logOut();
  const other = await guarded();
  const sent = () => app.network.to(routes.logIn.path).map(({ body }) => JSON.parse(body).trusted_device_token);
  await codeOf(app.client.logIn({ email: other.email, password }));
  expect(sent().at(-1)).toBeUndefined();

  // Another device has ended the trust.
  await fixture.api.collections.users.updateOne({ _id: user_id }, { $unset: { trusted_devices: 1 } });
  expect(await codeOf(begin(app))).toBe('ERR-SECOND-FACTOR-REQUIRED');
  expect(sent().at(-1)).toEqual(expect.any(String));
  await codeOf(begin(app));
  expect(sent().at(-1)).toBeUndefined();
});

test('no challenge, code or token is in the log, in an event, or in what is stored before the trust', async () => {
  const app = await guarded();
  const refused = await refusal(begin(app));
  const { challenge_id = '' } = app.client.secondFactor.waiting() ?? {};
  expect(challenge_id).not.toBe('');
  const { code } = app.recovery(0);
  app.network.plan(confirmPath, 'answer_lost', 'answer_lost');
  const lost = await refusal(app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true }));
  const shown = JSON.stringify([app.log, app.events, { ...lost }, refused.message, [...app.storage.content]]);
  for (const secret of [challenge_id, code, app.email]) expect(shown).not.toContain(secret);
  await app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true });
  const [trust] = JSON.parse(trustedIn(app) ?? '');
  expect(JSON.stringify([app.log, app.events])).not.toContain(trust.token);
});

test('the end of the account, and of the second factor, forgets the trust', async () => {
  for (const finish of ['deleteTotp', 'delete'] as const) {
    const app = await guarded();
    await codeOf(begin(app));
    await app.client.secondFactor.confirm({ ...app.recovery(0), trust_device: true });
    expect(trustedIn(app)).toContain('token');
    const prove = () => app.recovery(1);
    if (finish === 'delete') await app.client.account.delete(await app.client.stepUp('deletion', prove));
    else await app.client.secondFactor.deleteTotp(await app.client.stepUp('totp', prove));
    await eventually('the trust is gone', async () => trustedIn(app) === '[]');
  }
});

test('with the second factor on, the app learns how to step up, and nothing is repeated by itself', async () => {
  const app = await guarded();
  await codeOf(begin(app));
  await app.client.secondFactor.confirm(app.recovery(0));
  const refused = await refusal(app.client.account.exportData({ current_password: password }));
  expect(refused).toMatchObject({
    code: 'ERR-STEP-UP-REQUIRED',
    details: { methods: ['totp', 'recovery_code'] },
    reaction: { type: 'STEP_UP' },
  });
  expect([app.network.to('/export').length, app.network.to('/refresh').length]).toEqual([1, 0]);
  const proof = await app.client.stepUp('export', () => app.recovery(1));
  expect(await app.client.account.exportData(proof)).toHaveProperty('account');
});

test('a step-up gives the operation its token, which counts once', async () => {
  const { client, network } = await fixture.signedIn(noStream);
  const asked: unknown[] = [];
  const proof = await client.stepUp('export', ({ methods }) => {
    asked.push(methods);
    return { method: 'password', password };
  });
  expect(asked).toEqual([['password']]);
  expect(await client.account.exportData(proof)).toHaveProperty('account');
  const again = await refusal(client.account.exportData(proof));
  expect(again).toMatchObject({
    code: 'ERR-STEP-UP-REQUIRED',
    details: { methods: ['password'], max_age: 300 },
    reaction: { type: 'STEP_UP' },
  });
  expect([network.to('/export').length, network.to('/refresh').length]).toEqual([2, 0]);
  const dismissed = client.stepUp('export', () => Promise.reject(new Error('dismissed')));
  await expect(dismissed).rejects.toThrow('dismissed');
  const wrong = () => ({ method: 'password', password: 'another password' }) as const;
  expect(await codeOf(client.stepUp('export', wrong))).toBe('ERR-REAUTHENTICATION-FAILED');
  expect(network.to('/step-up').length).toBe(5);
});
