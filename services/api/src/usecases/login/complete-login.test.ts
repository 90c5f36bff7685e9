import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createCompleteLogin } from './complete-login.ts';
import type { OpenedSession, ProvedLogin } from './proved-login.ts';

const at = new Date('2026-11-25T10:00:00.000Z');
const later = new Date('2026-11-25T10:10:00.000Z');
const origin = { requestId: 'request-1', network: '192.0.2.1' };
const email = 'cook@example.com';
const verified = { _id: 'cook', email, email_key: email, email_verified_at: at } as PresentUser;
const { email_verified_at: _, ...unverified } = verified;
const guarded: PresentUser = { ...verified, totp: { confirmed_at: at } as NonNullable<UserDocument['totp']> };
const link = { provider: 'office', sub: 'person', email };
const byPassword = { seen: verified, device: {}, method: 'password', auth: { amr: ['pwd'], acr: '1' } } as const;
const byCode = { ...byPassword, method: 'email_code', auth: { amr: ['otp'], acr: '1' } } as const;
const byProvider = { ...byPassword, method: 'federated', auth: { amr: ['fed'], acr: '1' } } as const;
const byPasskey = { ...byPassword, method: 'passkey', auth: { amr: ['hwk', 'user', 'mfa'], acr: '2' } } as const;
const codeOf = (user: PresentUser) => ({ kind: 'email_code', user, challengeId: 'challenge', usedBy: 'this' }) as const;

/** The steps of a login, in order. */
let steps: unknown[];
beforeEach(() => {
  steps = [];
});

const step =
  (name: string) =>
  async (...given: unknown[]) =>
    void steps.push([name, ...given.filter((each) => each !== origin && each !== undefined)]);

interface Service {
  /** True if it trusts the device of the login. */
  readonly trusted?: boolean;
  readonly requiresVerifiedEmail?: boolean;
  /** Open challenge for the account's email address. */
  readonly open?: ChallengeDocument;
}

/** Completes the login. A second factor is demanded of an account that has one, unless the device is `trusted`. */
async function complete(login: ProvedLogin, { trusted = false, requiresVerifiedEmail = false, open }: Service = {}) {
  const opened = { isReplayed: false } as OpenedSession;
  const [expires_at, timestamp] = [later.toISOString(), at.toISOString()];
  const limits = {
    ...{ askForCode: step('askForCode'), requestCode: step('requestCode') },
    addIdentity: ({ _id }: { _id: string }) => step('addIdentity')(_id),
    ...{
      registered: step('registered'),
      completed: step('completed'),
      verified: step('verified'),
      known: step('known'),
    },
  };
  const completeLogin = createCompleteLogin({
    challenges: {
      findOpen: async (...key) => (key.join() === ['cook', 'email_verification', at].join() ? open : undefined),
    },
    async requestCode(request) {
      steps.push(['sent', request]);
      return { challenge_id: 'sent', expires_at, resend_at: timestamp, timestamp };
    },
    demandSecondFactor({ seen, auth }) {
      if (seen.totp === undefined || auth.acr === '2') return;
      if (trusted) return 'used';
      throw new AppError('ERR-IDENTITY-IN-USE');
    },
    openSession: async ({ trust }) => {
      steps.push(['opened', trust]);
      return opened;
    },
    limits,
    audit: (record, from) => steps.push(['audited', record, from]),
    requiresVerifiedEmail,
    now: () => at,
  });
  expect(await completeLogin(login, origin)).toBe(opened);
}

describe('what the limits learn of a login', () => {
  test.each<[string, ProvedLogin, unknown[]]>([
    ['by password: nothing more', byPassword, []],
    ['by a code of a verified email address', { ...byCode, proof: codeOf(verified) }, ['verified', email]],
    [
      'that proves its email address',
      { ...byCode, seen: unverified, proof: codeOf(unverified) },
      ['registered', email],
    ],
    ['by a provider', byProvider, ['known', email]],
    ['by a provider to a new account: nothing more', { ...byProvider, isNewAccount: true }, []],
    ['by passkey', byPasskey, ['completed', email, false]],
    [
      'by password and second factor',
      { ...byPassword, seen: guarded, auth: { amr: ['pwd', 'otp', 'mfa'], acr: '2' }, jkt: 'key' },
      ['completed', email, 'key', true],
    ],
  ])('the limits learn of a login %s', async (_, login, learned) => {
    await complete(login);
    expect(steps).toEqual([['opened', undefined], ...(learned.length > 0 ? [learned] : [])]);
  });

  test('the limits learn nothing of a login whose device was trusted instead of the second factor', async () => {
    await complete({ ...byCode, seen: guarded, proof: codeOf(guarded) }, { trusted: true });
    expect(steps).toEqual([['opened', 'used']]);
  });
});

test('a login that makes its device trusted opens the session with that trust', async () => {
  await complete({ ...byPasskey, seen: guarded, trust: { token: 'token' } });
  expect(steps[0]).toEqual(['opened', { token: 'token' }]);
});

describe('a login that links an identity', () => {
  test('a link counts for its limit before the session opens', async () => {
    await complete({ ...byPassword, link });
    expect(steps).toEqual([
      ['addIdentity', 'cook'],
      ['opened', undefined],
    ]);
  });

  test('a link counts only in the step that opens the session, if a second factor follows', async () => {
    await expect(complete({ ...byCode, seen: guarded, proof: codeOf(guarded), link })).rejects.toThrow(AppError);
    expect(steps).toEqual([]);
  });

  test('a link whose login proves the email address for the first time counts for no limit', async () => {
    await complete({ ...byCode, seen: unverified, proof: codeOf(unverified), link });
    expect(steps).toEqual([
      ['opened', undefined],
      ['registered', email],
    ]);
  });
});

describe('a service that requires verified email addresses', () => {
  const required = { requiresVerifiedEmail: true };

  const refused = ['audited', { event: 'login.refused', user_id: 'cook', reason: 'email_not_verified' }, origin];

  /** Returns the refusal of a login to an account with a second factor, whose email address is not verified. */
  async function refusal(service: Service) {
    const { email_verified_at: _, ...seen } = { ...guarded, recovered_at: at };
    const error = await complete({ ...byPassword, seen }, { ...required, ...service }).catch((each: unknown) => each);
    const { code, details } = error as AppError;
    return [code, details];
  }

  test('a login to an email address that is not verified gets a code, before a second factor is demanded', async () => {
    const details = { challenge_id: 'sent', expires_at: later.toISOString(), resend_at: at.toISOString() };
    expect(await refusal({})).toEqual(['ERR-EMAIL-NOT-VERIFIED', details]);
    expect(steps).toEqual([
      ['askForCode'],
      ['requestCode', { email, isVerified: false, hasAccess: true, recoveredAt: at }],
      ['sent', { purpose: 'email_verification', userId: 'cook', locale: 'en' }],
      refused,
    ]);
  });

  test('repeated logins to an email address that is not verified get the open challenge, and no further mail', async () => {
    const open = { _id: 'open', expires_at: later, resends_left: 0, resend_at: at } as ChallengeDocument;
    const details = { challenge_id: 'open', expires_at: later.toISOString() };
    expect(await refusal({ open })).toEqual(['ERR-EMAIL-NOT-VERIFIED', details]);
    expect(steps).toEqual([refused]);
  });

  test.each([
    ['to a verified email address', verified, true],
    ['to any email address, if the service requires no verified ones', unverified, false],
  ])('a login needs no further code %s', async (_, seen, requiresVerifiedEmail) => {
    await complete({ ...byPassword, seen }, { requiresVerifiedEmail });
    expect(steps).toEqual([['opened', undefined]]);
  });

  test('a login to an email address that is not verified is refused as disabled first, if the account is', async () => {
    const seen = { ...unverified, disabled_at: at };
    await expect(complete({ ...byPasskey, seen }, required)).rejects.toMatchObject({ code: 'ERR-ACCOUNT-DISABLED' });
    expect(steps).toEqual([]);
  });

  test('a code from the mailbox logs in without an earlier verification', async () => {
    await complete({ ...byCode, seen: unverified, proof: codeOf(unverified) }, required);
    expect(steps[0]).toEqual(['opened', undefined]);
  });
});
