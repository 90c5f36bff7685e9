import { randomUUID } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import { createSealedSecrets, createSealedTokens, generateSecretKey } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import type { Limits } from '../../../services/api/src/limits/limits.ts';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { createServerSecrets } from '../../../services/api/src/security/server-secrets.ts';
import { createDemandSecondFactor } from '../../../services/api/src/usecases/login/demand-second-factor.ts';
import {
  createCheckFactor,
  createOpenSeed,
  createSettleTry,
  type GivenFactor,
  givenCode,
} from '../../../services/api/src/usecases/proofs/check-factor.ts';
import { refuseAllPasskeys } from '../../../services/api/src/usecases/proofs/passkey-proof.ts';
import { createWarnOfGuesses } from '../../../services/api/src/usecases/proofs/warn-of-guesses.ts';
import { createChangeSecondFactor } from '../../../services/api/src/usecases/second-factor/change-second-factor.ts';
import { createConfirmSecondFactor } from '../../../services/api/src/usecases/second-factor/confirm-second-factor.ts';
import { createConfirmTotp } from '../../../services/api/src/usecases/second-factor/confirm-totp.ts';
import { createIssueRecoveryCodes } from '../../../services/api/src/usecases/second-factor/create-recovery-codes.ts';
import { createEnrolTotp } from '../../../services/api/src/usecases/second-factor/create-totp.ts';
import { createDeleteTotp } from '../../../services/api/src/usecases/second-factor/delete-totp.ts';
import { createDeleteTrustedDevice } from '../../../services/api/src/usecases/second-factor/delete-trusted-device.ts';
import { createReauthenticate } from '../../../services/api/src/usecases/step-up/reauthenticate.ts';
import { createStepUpTokens } from '../../../services/api/src/usecases/step-up/step-up-tokens.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
/** Runs between the check of a request and its change. */
let meanwhile: () => Promise<unknown>;
/** True if a wrong try is alarming. */
let isAlarming: boolean;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  [meanwhile, isAlarming] = [async () => undefined, false];
  await fixture.clear();
});
afterAll(() => fixture.close());

const keys = { keys: [generateSecretKey()] } as const;
const [sealedSecrets, sealedTokens] = [createSealedSecrets(keys), createSealedTokens(keys)];
const seed = Buffer.alloc(20);
const code = () => codeAt('A'.repeat(32), fixture.now().getTime());

/** Returns the account's authenticator app as it is stored, without a key of the recovery codes. */
function sealedApp(userId: string) {
  const factor_id = randomUUID();
  const { kid, box } = sealedSecrets.seal(seed, { userId, factorId: factor_id });
  return { factor_id, kid, seed: new Binary(box) };
}

const confirmedApp = (userId: string) => ({ ...sealedApp(userId), confirmed_at: fixture.now(), last_step: 7 });

/** Stores an account with a session, a second factor and another one that waits for its confirmation. */
async function guarded() {
  const _id = randomUUID();
  const user = await fixture.user({ _id, totp: confirmedApp(_id), recovery_codes: ['hash'] });
  const until = new Date(fixture.now().getTime() + 1);
  const pending_totp = { ...sealedApp(_id), until, version: credentialsVersion(user) };
  await fixture.collections.users.updateOne({ _id }, { $set: { pending_totp } });
  return { user, pending_totp, session: await fixture.session({ user_id: _id }) };
}
type Guarded = Awaited<ReturnType<typeof guarded>>;

/** Creates limits that allow everything, and record each call. */
function recordingLimits() {
  const { deps, limitCalls } = fixture;
  const noted = (call: unknown) => {
    limitCalls.push(call);
    return meanwhile();
  };
  return {
    ...deps.limits,
    write: async (session) => void (await noted(['write', session])),
    changeFactor: async ({ _id }) => void (await noted(['changeFactor', _id])),
    completed: async (email) => void limitCalls.push(['completed', email]),
    async secondFactor({ isGuess }) {
      limitCalls.push(isGuess ? 'guess' : 'no guess');
      const giveBack = async () => void limitCalls.push('given back');
      return { triesLeft: 4, isAlarming, giveBack, succeed: async () => void limitCalls.push('succeeded') };
    },
  } satisfies Partial<Limits>;
}

/** Returns the dependencies of all use cases of second factors. */
function partsOf() {
  const { deps } = fixture;
  const { consumedProofs, now } = deps;
  const secrets = createServerSecrets({ current: () => keys });
  const openSealed = createOpenSeed({ sealedSecrets, now });
  const openSeed: typeof openSealed = async (...sealed) => {
    await meanwhile();
    return openSealed(...sealed);
  };
  const stepUpTokens = createStepUpTokens({ sealedTokens, consumedProofs, secrets, now });
  const changeSecondFactor = createChangeSecondFactor(deps);
  const own = { ...deps, limits: recordingLimits(), rpId: undefined, stepUpTokens, openSeed, changeSecondFactor };
  const parts = { ...own, sealedSecrets, totpIssuer: 'Food storage', hostNow: now };
  return { ...parts, reauthenticate: createReauthenticate(parts) };
}

/** Returns a body with a step-up token for that purpose. */
async function permitted({ user, session }: Pick<Guarded, 'user' | 'session'>, purpose: 'totp' | 'recovery_codes') {
  const { stepUpTokens } = partsOf();
  const scope = { user, caller: bearerOf(session), purpose };
  const challenge = await stepUpTokens.openChallenge(stepUpTokens.challenge(scope, undefined).text, scope);
  if (challenge === undefined) throw new Error('the challenge does not count');
  return { step_up_token: stepUpTokens.token(challenge).text };
}

type Operation = (account: Guarded, origin?: RequestOrigin) => Promise<unknown>;

const confirm: Operation = async ({ pending_totp: { factor_id }, session }, origin = fixture.origin) =>
  createConfirmTotp(partsOf())({ factor_id, code: code() }, bearerOf(session), origin);
const newCodes: Operation = async (account, origin = fixture.origin) =>
  createIssueRecoveryCodes(partsOf())(await permitted(account, 'recovery_codes'), bearerOf(account.session), origin);
const enrol: Operation = async (account, origin = fixture.origin) =>
  createEnrolTotp(partsOf())(await permitted(account, 'totp'), bearerOf(account.session), origin);
const switchOff: Operation = async (account, origin = fixture.origin) =>
  createDeleteTotp(partsOf())(await permitted(account, 'totp'), bearerOf(account.session), origin);
const endTrust: Operation = ({ session }, origin = fixture.origin) =>
  createDeleteTrustedDevice(fixture.deps)(randomUUID(), bearerOf(session), origin);

describe('a change of the second factor', () => {
  test.each([
    ['a confirmation', confirm],
    ['a request for recovery codes', newCodes],
    ['an enrolment', enrol],
  ])('%s whose app has given up changes nothing: its user would never see the secrets', async (_, operation) => {
    const account = await guarded();
    const before = await fixture.storedUser(account.user._id);
    const left = { ...fixture.origin, isAbandoned: () => true };
    await expect(operation(account, left)).rejects.toThrow(RequestAbandoned);
    expect(await fixture.storedUser(account.user._id)).toEqual(before);
  });

  test.each([
    ['a confirmation', confirm, 'ERR-CODE-EXPIRED'],
    ['a request for recovery codes', newCodes, 'ERR-REAUTHENTICATION-FAILED'],
    ['an enrolment', enrol, 'ERR-REAUTHENTICATION-FAILED'],
    ['a switch-off', switchOff, 'ERR-REAUTHENTICATION-FAILED'],
  ])('%s changes nothing if a sign-in method was changed since its check', async (_, operation, error) => {
    const account = await guarded();
    const { user } = account;
    const before = await fixture.storedUser(user._id);
    const set = { ways_changed_at: new Date(1) };
    meanwhile = () => fixture.collections.users.updateOne({ _id: user._id }, { $set: set });
    await expect(operation(account)).rejects.toMatchObject({ code: error });
    expect(await fixture.storedUser(user._id)).toEqual({ ...before, ...set });
  });

  test('a request for recovery codes changes nothing if its step-up token was used since its check', async () => {
    const account = await guarded();
    const { stepUpTokens } = partsOf();
    const [body, caller] = [await permitted(account, 'recovery_codes'), bearerOf(account.session)];
    meanwhile = async () => {
      const use = await stepUpTokens.openToken(body.step_up_token, {
        user: account.user,
        caller,
        purpose: 'recovery_codes',
      });
      if (use !== undefined) await stepUpTokens.use(use);
    };
    const requested = createIssueRecoveryCodes(partsOf())(body, caller, fixture.origin);
    await expect(requested).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
    expect((await fixture.storedUser(account.user._id))?.recovery_codes).toEqual(['hash']);
  });

  test('a confirmation is refused from the time on at which the enrolment lapses', async () => {
    const account = await guarded();
    fixture.pass(1);
    await expect(confirm(account)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  });

  test.each([
    ['a confirmation', confirm, [false, true]],
    ['a request for recovery codes', newCodes, [false, true]],
    ['a switch-off', switchOff, [false, true]],
    // These have no event, so they are made once more.
    ['an enrolment', enrol, [false, false]],
    ['an end of trust', endTrust, [false, false]],
  ])('%s whose commit gets no answer is looked up by its event', async (_, operation, verdicts) => {
    await operation(await guarded());
    expect(fixture.verdicts).toEqual(verdicts);
  });

  test.each<[string, Operation, (account: Guarded) => unknown[]]>([
    [
      'a confirmation, in which nobody guesses, counts as a change of the account’s factor',
      confirm,
      ({ user: { _id, email } }) => ['no guess', 'given back', ['changeFactor', _id], ['completed', email]],
    ],
    [
      'a request for recovery codes counts as a change of the factor',
      newCodes,
      ({ user }) => [['changeFactor', user._id]],
    ],
    ['a switch-off counts as a change of the factor', switchOff, ({ user }) => [['changeFactor', user._id]]],
    ['an enrolment counts as a write of its session', enrol, ({ session }) => [['write', session.document._id]]],
  ])('%s', async (_, operation, calls) => {
    const account = await guarded();
    await operation(account);
    expect(fixture.limitCalls).toEqual(calls(account));
  });

  test.each([
    ['a request for recovery codes', createIssueRecoveryCodes],
    ['a switch-off', createDeleteTotp],
  ])('%s counts as a write of its session while the second factor is off', async (_, create) => {
    const user = await fixture.user();
    const session = await fixture.session({ user_id: user._id });
    await create(partsOf())({ current_password: 'correct horse battery' }, bearerOf(session), fixture.origin);
    expect(fixture.limitCalls.at(-1)).toEqual(['write', session.document._id]);
    expect(fixture.limitCalls).not.toContainEqual(['changeFactor', user._id]);
  });
});

describe('a check of a second factor', () => {
  const passkey: GivenFactor = { method: 'passkey', challengeId: 'challenge', credential: { id: 'x' } as never };
  const wrong: GivenFactor = { method: 'totp', code: 'wrong' };
  const invalid = { code: 'ERR-SECOND-FACTOR-INVALID', details: { tries_left: 4 } };
  const failed = (reason: string, user_id: string) => [
    { event: 'second_factor.failed', user_id, reason },
    fixture.origin,
  ];
  const warned = ['warned', 'second_factor'];

  const checksOf = () => ({
    ...partsOf(),
    passkeyProof: refuseAllPasskeys,
    warnOfGuesses: async (secret: string) => void fixture.limitCalls.push(['warned', secret]),
  });
  const check = (user: PresentUser, given: GivenFactor) =>
    createCheckFactor(checksOf())(user, given, {}, fixture.origin);

  test('the code of a proof must have the form of its method', () => {
    const forms = [
      ['totp', 6],
      ['recovery_code', 25],
      ['email_code', 8],
    ] as const;
    for (const [method, length] of forms) {
      const right = '1'.repeat(length);
      expect(givenCode(method, right)).toBe(right);
      for (const other of ['', right.slice(1), `${right}1`, `${right.slice(1)}a`]) {
        expect(() => givenCode(method, other)).toThrow(expect.objectContaining({ code: 'ERR-VALIDATION-FAILED' }));
      }
    }
  });

  test('a wrong code uses up its try, is audited, and is mailed once it is alarming', async () => {
    const { user } = await guarded();
    await expect(check(user, wrong)).rejects.toMatchObject(invalid);
    expect([fixture.limitCalls, fixture.audited]).toEqual([['guess'], [failed('totp', user._id)]]);
    isAlarming = true;
    await expect(check(user, wrong)).rejects.toMatchObject(invalid);
    expect(fixture.limitCalls).toEqual(['guess', 'guess', warned]);
  });

  test.each<GivenFactor>([wrong, { method: 'recovery_code', code: 'A'.repeat(25) }])(
    'a second factor is wrong for an account that has none of its method: $method',
    async (given) => {
      const user = await fixture.user();
      const withApp = { ...user, totp: confirmedApp(user._id) };
      await expect(check(given === wrong ? user : withApp, given)).rejects.toMatchObject(invalid);
      expect(fixture.audited).toEqual([failed(given.method, user._id)]);
    },
  );

  test('a wrong passkey is no guess: it is audited, and its try given back without a warning', async () => {
    const { user } = await guarded();
    isAlarming = true;
    await expect(check(user, passkey)).rejects.toMatchObject({ code: 'ERR-PASSKEY-INVALID' });
    expect(fixture.limitCalls).toEqual(['no guess', 'given back']);
    expect(fixture.audited).toEqual([failed('passkey', user._id)]);
  });

  test('an outage is no wrong factor: its try is given back without a record or a warning', async () => {
    const { user } = await guarded();
    [isAlarming, meanwhile] = [true, () => Promise.reject(new Error('away'))];
    await expect(check(user, wrong)).rejects.toThrow('away');
    expect([fixture.limitCalls, fixture.audited]).toEqual([['guess', 'given back'], []]);
  });

  test('a factor that another request has used since the check is a wrong one, unlike any other end of the work', async () => {
    const { user } = await guarded();
    isAlarming = true;
    const factor = await check(user, { method: 'totp', code: code() });
    const settle = (error?: AppError) =>
      createSettleTry(checksOf())(
        error ? Promise.reject(error) : Promise.resolve('done'),
        factor,
        user,
        fixture.origin,
      );
    expect(await settle()).toBe('done');
    const [used, expired] = [new AppError('ERR-SECOND-FACTOR-INVALID', invalid), new AppError('ERR-CODE-EXPIRED')];
    await expect(settle(used)).rejects.toBe(used);
    await expect(settle(expired)).rejects.toBe(expired);
    expect(fixture.limitCalls).toEqual(['guess', 'succeeded', warned, 'given back']);
    expect(fixture.audited).toEqual([]);
  });

  test.each([
    ['whose account has changed since the check', 599_999, ['try', 'guess', 'given back']],
    ['whose challenge was made ten minutes ago', 600_000, ['try']],
  ])('a login %s is not completed', async (_, lateMs, calls) => {
    const { user: seen } = await guarded();
    const parts = { ...checksOf(), sealedTokens };
    const login = { seen, method: 'password', auth: { amr: ['pwd'], acr: '1' }, device: {} } as const;
    const demand = async () => createDemandSecondFactor(parts)(login, fixture.origin);
    const demanded = await demand().catch(
      (error: AppError<'ERR-SECOND-FACTOR-REQUIRED'>) => error.details.challenge_id,
    );
    fixture.pass(lateMs);
    const confirmLogin = createConfirmSecondFactor({
      ...{ ...parts, checkFactor: createCheckFactor(parts), settleTry: createSettleTry(parts) },
      oncePerChallenge: (_use, open) => open(),
      completeLogin: ({ ifChanged }) => Promise.reject(ifChanged?.()),
    });
    const given = { challenge_id: `${demanded}`, method: 'totp', code: code() } as const;
    await expect(confirmLogin(given, fixture.origin)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect(fixture.limitCalls).toEqual(calls);
  });
});

describe('a warning of guesses', () => {
  const dayMs = 86_400_000;
  const mailed = async () => (await fixture.rows()).map(({ event: { type, data } }) => ({ type, ...data }));

  test.each(['password', 'second_factor'] as const)(
    'guesses at the %s are mailed once in 24 hours, even if the session that has guessed has ended',
    async (secret) => {
      const { user } = await guarded();
      const own = { user_id: user._id, purpose: `${secret}_guessed`, locale: 'en' };
      const notice = { type: 'service.auth.events.notice', ...own };
      const caller = { sid: randomUUID(), user_id: user._id };
      for (const [passedMs, mails] of [
        [0, 1],
        [dayMs - 1, 1],
        [1, 2],
      ]) {
        fixture.pass(passedMs ?? 0);
        await createWarnOfGuesses(fixture.deps)(secret, user, { ...fixture.origin, caller });
        expect(await mailed()).toEqual(Array(mails).fill(notice));
        const record = [
          { event: `account.${secret}_guessed`, user_id: user._id },
          { ...fixture.origin, caller },
        ];
        expect(fixture.audited).toEqual(Array(mails).fill(record));
      }
      expect(fixture.verdicts).toEqual([false, true, false, false, false, true]);
    },
  );

  test('guesses at an account that does not exist cause the same write, and no record', async () => {
    await createWarnOfGuesses(fixture.deps)('password', undefined, fixture.origin);
    expect(await mailed()).toMatchObject([{ purpose: 'password_guessed' }]);
    expect(fixture.audited).toEqual([]);
  });
});
