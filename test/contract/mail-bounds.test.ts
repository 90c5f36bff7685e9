import { randomUUID } from 'node:crypto';
import type { CodePurpose, NotificationPurpose } from '@auth-account/contracts/events';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mailPurposes } from '../../services/worker/src/mail/mail-templates.ts';
import { logIn, newEmail, newSession, password } from '../support/api/accounts.ts';
import { type ApiDriver, bearer, withHeaders } from '../support/api/api-driver.ts';
import { changeEmail, confirmReset, requestChange, requestReset } from '../support/api/codes.ts';
import { type MailSettings, mailBounds } from '../support/api/mail-bounds.ts';
import { addPasskey, deletePasskey } from '../support/api/passkeys.ts';
import {
  linkIdentity,
  logInByProvider,
  newPerson,
  sendSecurityEvent,
  unlinkIdentity,
} from '../support/api/providers.ts';
import {
  beginLogin,
  codeAt,
  completeLogin,
  guardedAccount,
  orderRemoval,
  stepUpBy,
  stopBySession,
  switchOn,
  wrongCodeFor,
} from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

/** Limits that a flood reaches soon. */
const settings: MailSettings = {
  CODE_LIMIT_PER_ACCOUNT: 2,
  PASSWORD_CHANGE_LIMIT_PER_USER: 2,
  DELETION_LIMIT_PER_USER: 2,
  FACTOR_CHANGE_LIMIT_PER_USER: 4,
  PASSKEY_ADD_LIMIT_PER_USER: 2,
  IDENTITY_ADD_LIMIT_PER_USER: 2,
};

let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
beforeAll(async () => {
  const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
  const free = { LOGIN_ACCOUNT_FREE_FAILURES: '100' };
  api = await startTestApi({ ...texts, ...free, TRUST_PROXY_HOPS: '1' }, { now });
});
// Identity tokens are of the present time.
beforeEach(() => {
  shiftMs = 0;
});
afterAll(() => api.close());

/** Does something until it is refused for its limit, at most so many times. */
async function untilRefused(act: () => Promise<unknown>, times = 40): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const answer = await act().catch((error: Error) => {
      if (!/ 429/.test(error.message)) throw error;
      return { status: 429 };
    });
    if (Object(answer).status === 429) return;
  }
  throw new Error('no limit has refused the flood');
}

let lastAddress = 0;
/** Returns a client from a network that nobody else uses. */
function unknownDevice(): ApiDriver {
  lastAddress += 1;
  return withHeaders(api, { 'X-Forwarded-For': `198.18.1.${lastAddress}` });
}
const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const proof = { current_password: password };
const device = () => ({ device_id: randomUUID() });

/** Each flood causes as many mails of its kinds as it can, and returns the account. */
const floods = {
  async codes() {
    const { user_id, email, ...caller } = await newSession(api, device());
    const asked = [
      'requestPasswordReset',
      'requestDeletion',
      'requestLoginCode',
      'requestSecondFactorRemoval',
    ] as const;
    for (const name of asked) await untilRefused(() => unknownDevice()[name]({ email }));
    await untilRefused(() => api.requestEmailVerification(bearer(caller)));
    await untilRefused(() => requestChange(api, caller, newEmail()));
    return user_id;
  },
  async devices() {
    const { user_id, email } = await newSession(api, device());
    for (let i = 0; i < 12; i += 1) await logIn(api, email, device());
    return user_id;
  },
  async passwords() {
    const { user_id, ...caller } = await newSession(api);
    const body = { ...proof, new_password: password };
    await untilRefused(() => api.changePassword(body, bearer(caller)));
    return user_id;
  },
  async wrongPasswords() {
    const { user_id, email } = await newSession(api);
    for (let round = 0; round < 2; round += 1) {
      const login = { email, password: 'wrong horse battery' };
      await untilRefused(() => unknownDevice().logIn(login), 71);
      expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
    }
    return user_id;
  },
  async addresses() {
    const { user_id, ...caller } = await newSession(api);
    await untilRefused(() => changeEmail(api, caller, newEmail()));
    return user_id;
  },
  async deletions() {
    const { user_id, email } = await newSession(api);
    await untilRefused(async () => {
      const ordered = await api.scheduleDeletion(proof, bearer(await logIn(api, email)));
      await api.restoreAccount({ email, password });
      return ordered;
    });
    return user_id;
  },
  async takenEmails() {
    const { user_id, email } = await newSession(api);
    for (let i = 0; i < 2; i += 1) {
      const caller = await newSession(api);
      await untilRefused(() => requestChange(api, caller, email));
    }
    return user_id;
  },
  async factors() {
    const { user_id, ...caller } = await newSession(api);
    const off = async (secret: string) => {
      const step_up_token = await stepUpBy(api, caller, 'totp', nextCode(secret));
      return api.deleteTotp({ step_up_token }, bearer(caller));
    };
    await untilRefused(async () => off((await switchOn(api, caller, now())).secret));
    return user_id;
  },
  async recoveryCodes() {
    const { user_id, email, secret, recovery_codes, ...caller } = await guardedAccount(api, now());
    for (const code of recovery_codes) {
      const challenge_id = await beginLogin(api, email);
      expect((await completeLogin(api, challenge_id, { method: 'recovery_code', code })).status).toBe(200);
    }
    await untilRefused(async () => {
      const step_up_token = await stepUpBy(api, caller, 'recovery_codes', nextCode(secret));
      return api.createRecoveryCodes({ step_up_token }, bearer(caller));
    });
    return user_id;
  },
  async guesses() {
    const { user_id, email, secret } = await guardedAccount(api, now());
    for (let round = 0; round < 2; round += 1) {
      await untilRefused(async () => {
        const somewhere = unknownDevice();
        const challenge_id = await beginLogin(somewhere, email);
        return completeLogin(somewhere, challenge_id, { code: wrongCodeFor(secret, now()) });
      });
      shiftMs += 16 * 60_000;
    }
    return user_id;
  },
  async removals() {
    const { user_id, email, ...caller } = await guardedAccount(api, now());
    await untilRefused(async () => {
      await orderRemoval(api, email);
      return stopBySession(api, caller);
    });
    return user_id;
  },
  async passkeys() {
    const { user_id, ...caller } = await newSession(api);
    await untilRefused(async () => deletePasskey(api, caller, (await addPasskey(api, caller)).passkey_id));
    return user_id;
  },
  async identities() {
    const { user_id, ...caller } = await newSession(api);
    await untilRefused(async () => {
      const linked = await linkIdentity(api, caller, newPerson());
      return linked.status === 201 ? unlinkIdentity(api, caller, linked.json.data.identity_id) : linked;
    });
    return user_id;
  },
  async securityEvents() {
    const { user_id, ...caller } = await newSession(api);
    for (let i = 0; i < 2; i += 1) {
      const person = newPerson();
      expect((await linkIdentity(api, caller, person)).status).toBe(201);
      // Only the end of a session that the identity has opened is mailed.
      expect((await logInByProvider(api, person)).status).toBe(200);
      const event = { type: 'consent-revoked', sub: person.sub, event_time: Math.floor(Date.now() / 1_000) };
      await sendSecurityEvent(api, event);
    }
    return user_id;
  },
};

/** The flood for each kind of mail. A new purpose does not compile without an entry. */
const floodOf: Readonly<Record<CodePurpose | NotificationPurpose, keyof typeof floods>> = {
  email_verification: 'codes',
  password_reset: 'codes',
  email_change: 'codes',
  account_deletion: 'codes',
  step_up: 'codes',
  second_factor_removal: 'codes',
  login: 'codes',
  identity_link: 'codes',
  new_device: 'devices',
  password_changed: 'passwords',
  password_guessed: 'wrongPasswords',
  email_changed: 'addresses',
  deletion_scheduled: 'deletions',
  deletion_cancelled: 'deletions',
  address_in_use: 'takenEmails',
  second_factor_on: 'factors',
  second_factor_off: 'factors',
  second_factor_guessed: 'guesses',
  second_factor_removal_ordered: 'removals',
  second_factor_removal_stopped: 'removals',
  recovery_codes: 'recoveryCodes',
  passkey_added: 'passkeys',
  passkey_removed: 'passkeys',
  identity_linked: 'identities',
  identity_unlinked: 'identities',
  provider_notice: 'securityEvents',
};

// guarantees: mails-per-mailbox
test('every kind of mail that the worker sends has a bound for each account and day', () => {
  expect(Object.keys(mailBounds).toSorted()).toEqual([...mailPurposes].toSorted());
});

// guarantees: owner-in-despite-guessing, mails-per-mailbox
test.each(Object.keys(floods) as (keyof typeof floods)[])(
  'a flood of %s causes no more mails to the account than the bound of each kind',
  async (name) => {
    const user_id = await floods[name]();
    const rows = await api.collections.outbox.find({ 'event.subject': user_id }).sort({ _id: 1 }).toArray();
    const sent = rows.flatMap(({ event: { data } }) => ('purpose' in data ? [data.purpose] : []));
    // Kinds with the same bound share it.
    const bounds = Map.groupBy(mailPurposes, (purpose) => mailBounds[purpose]);
    for (const [bound, purposes] of bounds) {
      const count = sent.filter((purpose) => purposes.includes(purpose)).length;
      expect([purposes, count]).toEqual([purposes, Math.min(count, bound.max(settings))]);
    }
    for (const purpose of mailPurposes.filter((each) => floodOf[each] === name && name !== 'codes')) {
      expect(sent).toContain(purpose);
    }
  },
);
