import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, newDevice, newEmail, password } from '../support/api/accounts.ts';
import { bearer, withHeaders } from '../support/api/api-driver.ts';
import { confirmChange } from '../support/api/codes.ts';
import { demandLink, linkIdentity, logInByProvider, newPerson } from '../support/api/providers.ts';
import { codeAt, guardedAccount, stepUpBy } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

/** Two apis with one database and one Redis. */
let apis: readonly [TestApi, TestApi];
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
beforeAll(async () => {
  const api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now });
  apis = [api, await api.beside({}, { now })];
});
afterAll(async () => {
  await apis[0].close();
});

let clients = 0;
/** Returns one of the apis, as a client on that device reaches it from a network that nobody else uses. */
function client(device: object = newDevice()): TestApi {
  clients += 1;
  const address = { 'X-Forwarded-For': `198.18.${clients >> 8}.${clients & 255}` };
  return withHeaders(apis[clients % 2] ?? apis[0], { ...address, ...device });
}

/** Answers that are verdicts on a wrong password. */
const verdict = ['ERR-INVALID-CREDENTIALS', 'ERR-REAUTHENTICATION-FAILED', 'ERR-IDEMPOTENCY-KEY-REUSED'];
const reauthenticating = [
  'exportAccount',
  'changePassword',
  'scheduleDeletion',
  'requestEmailChange',
  'createTotp',
  'createRecoveryCodes',
  'createPasskeyChallenge',
] as const;

// guarantees: hundred-wrong-passwords
test('a thief with an identity of his own gets at most 100 verdicts on the password, by whatever path', async () => {
  const [email, key, home] = [newEmail(), randomUUID(), newDevice()];
  const registration = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  await client(home).registerAccount(registration, { 'Idempotency-Key': key });
  await apis[0].collections.users.updateOne({ email_key: email }, { $set: { email_verified_at: new Date(0) } });
  const owner = await logIn(client(home), email);
  const person = newPerson();
  await linkIdentity(apis[0], owner, person);
  const timed = (whose: object) => ({ ...whose, iat: Math.floor(now() / 1_000), exp: Math.floor(now() / 1_000) + 600 });

  /** Tries a wrong password by each path, in a session of a new device or of the owner's. */
  async function attack(device_id: string): Promise<number> {
    const thief = await logInByProvider(client(), timed(person), { device_id });
    const caller = bearer(thief.json.data);
    const link_challenge_id = await demandLink(client(), timed(newPerson({ email })));
    const purpose = { purpose: 'export' };
    const { json } = await client().createStepUpChallenge(purpose, caller);
    const { challenge_id } = json.data;
    const changes = { new_password: 'three wrong staples', new_email: newEmail() };
    const wrong = () => `wrong ${randomUUID()}`;
    const answers = await Promise.all([
      client().logIn({ email: email.toUpperCase(), password: wrong() }),
      client().restoreAccount({ email, password: wrong() }),
      client().registerAccount({ ...registration, password: wrong() }, { 'Idempotency-Key': key }),
      client().linkByProof({ link_challenge_id, password: wrong() }),
      client().confirmStepUp({ challenge_id, method: 'password', password: wrong() }, caller),
      ...reauthenticating.map((name) => client()[name]({ ...changes, current_password: wrong() }, caller)),
    ]);
    return answers.filter(({ json: { error_code } }) => verdict.includes(error_code)).length;
  }

  let verdicts = 0;
  for (let round = 0; round < 16; round += 1) {
    verdicts += await attack(round % 2 === 0 ? randomUUID() : owner.device_id);
    shiftMs += 3_600_000;
  }
  // What unknown devices and sessions without the password have together.
  expect(verdicts).toBe(70);
  const notification = { 'event.data.purpose': 'password_guessed' };
  expect(await apis[0].collections.outbox.countDocuments(notification)).toBe(1);
  expect((await client().logIn({ email, password })).status).toBe(429);
  const again = await logIn(client(home), email);
  const left = await client().exportAccount({ current_password: password }, bearer(again));
  expect(left.status).toBe(200);
});

// guarantees: hundred-wrong-passwords
test('a thief with a session and the authenticator begins no total of passwords anew by a change of the email address', async () => {
  const { secret, device_id, ...owner } = await guardedAccount(apis[0], now());
  let { email, refresh_token } = owner;
  async function verdicts(): Promise<number> {
    let sum = 0;
    for (let latest = 1; latest > 0; shiftMs += 3_600_000) {
      const guess = () => client().logIn({ email, password: `wrong ${randomUUID()}` });
      const answers = await Promise.all([guess(), guess(), guess()]);
      latest = answers.filter(({ json }) => verdict.includes(json.error_code)).length;
      sum += latest;
    }
    return sum;
  }
  expect(await verdicts()).toBe(70);
  for (const new_email of [newEmail(), email.toUpperCase()]) {
    const { json } = await client().refreshTokens({ refresh_token });
    ({ refresh_token } = json.data);
    const step_up_token = await stepUpBy(client(), json.data, 'email_change', codeAt(secret, now()));
    const body = { new_email, step_up_token };
    const asked = await client().requestEmailChange(body, bearer(json.data));
    expect((await confirmChange(client(), json.data, asked.json.data.challenge_id)).status).toBe(200);
    email = new_email;
    expect(await verdicts()).toBe(0);
  }
});
