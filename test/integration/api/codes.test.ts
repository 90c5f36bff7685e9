import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CodePurpose } from '@auth-account/contracts/events';
import { createAccountEvent } from '@auth-account/messaging';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import { generateSecretKey, MissingKeyError } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mailLocale } from '../../../services/api/src/request/request-origin.ts';
import { createCheckCode } from '../../../services/api/src/usecases/codes/check-code.ts';
import type { CodeRequest } from '../../../services/api/src/usecases/codes/request-code.ts';
import { createResendCode, type ResendCodeDeps } from '../../../services/api/src/usecases/codes/resend-code.ts';
import { isCodeUsed, useCode } from '../../../services/api/src/usecases/proofs/use-proof.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const purpose = 'password_reset';
const after = (seconds: number) => new Date(fixture.now().getTime() + seconds * 1_000);
/** Events of other tests may come late, but they belong to other users. */
const publishedTo = (userId: string) => fixture.published.filter(({ subject }) => subject === userId);
async function untilPublished(userId: string): Promise<void> {
  while (publishedTo(userId).length === 0) await sleep(5);
}
/** Waits longer than an event can be held back. */
const untilNothingIsHeldBack = () => sleep(550);

describe('a request for a code', () => {
  const request = (fields: Partial<CodeRequest>) =>
    fixture.deps.requestCode({ purpose, userId: undefined, locale: 'ru', ...fields }, fixture.origin);

  test('a request for a code stores a challenge with its event, and publishes the event later', async () => {
    const { _id: user_id } = await fixture.user();
    const answer = await request({ userId: user_id });
    const { challenge_id } = answer;
    const times = { expires_at: after(600), resend_at: after(60) };
    const iso = { expires_at: after(600).toISOString(), resend_at: after(60).toISOString() };
    expect(answer).toEqual({ challenge_id, ...iso, timestamp: fixture.now().toISOString() });
    expect(await fixture.storedChallenge(challenge_id)).toEqual({
      ...{ _id: challenge_id, purpose, user_id, kid: fixture.deps.codes.currentKid, tries_left: 5, resends_left: 3 },
      ...{ ...times, created_at: fixture.now(), ended_at: null, purge_at: after(86_400) },
    });
    const [row, ...others] = await fixture.rows();
    expect([row?.state, row?.topic, others]).toEqual(['pending', 'service.auth.events.code_requested', []]);
    const data = { challenge_id, user_id, purpose, locale: 'ru', expires_at: iso.expires_at };
    const { requestId: requestid } = fixture.origin;
    expect(row?.event).toMatchObject({ data, requestid, time: fixture.now().toISOString() });
    expect(fixture.audited).toEqual([[{ event: 'code.requested', user_id, purpose }, fixture.origin]]);
    expect(fixture.verdicts).toEqual([false, true]);
    await untilPublished(user_id);
    expect(publishedTo(user_id)).toEqual([row?.event]);
  });

  test.each<[string, () => Promise<Partial<CodeRequest>>]>([
    ['has no account', async () => ({})],
    ['must not be written to', async () => ({ userId: (await fixture.user())._id, isWithheld: true })],
  ])('a request for a code to an email address that %s does the same work, and sends nothing', async (_, given) => {
    const fields = await given();
    const { challenge_id } = await request(fields);
    const { user_id } = (await fixture.storedChallenge(challenge_id)) as ChallengeDocument;
    if (fields.userId !== undefined) expect(user_id).toBe(fields.userId);
    else expect(await fixture.storedUser(user_id)).toBeNull();
    expect(await fixture.rows()).toMatchObject([{ state: 'delivered', event: { data: { challenge_id, user_id } } }]);
    expect(fixture.audited).toEqual([[{ event: 'code.requested', user_id: fields.userId, purpose }, fixture.origin]]);
    await untilNothingIsHeldBack();
    expect(publishedTo(user_id)).toEqual([]);
  });

  test('a request for a code can send another event in its place', async () => {
    const [user, holder] = [await fixture.user(), await fixture.user()];
    const data = { user_id: holder._id, purpose: 'address_in_use', locale: 'en' } as const;
    const source = { id: randomUUID(), requestId: 'request-2', at: fixture.now() };
    const instead = createAccountEvent('service.auth.events.notice', data, source);
    await request({ userId: user._id, isWithheld: true, instead });
    expect(await fixture.rows()).toMatchObject([{ state: 'pending', event: instead }]);
    await untilPublished(holder._id);
    expect([publishedTo(holder._id), publishedTo(user._id)]).toEqual([[instead], []]);
  });

  test('a request for a code comes after the other writes of its transaction, and fails with them', async () => {
    const { _id: userId } = await fixture.user();
    const { challenges } = fixture.deps;
    await request({ userId, change: (session) => challenges.endAll(userId, fixture.now(), session) });
    expect(await fixture.collections.challenges.countDocuments({ user_id: userId, ended_at: null })).toBe(1);
    await fixture.clear();
    const change = () => Promise.reject(new Error('no'));
    await expect(request({ userId, change })).rejects.toThrow('no');
    expect([await fixture.collections.challenges.countDocuments(), await fixture.rows()]).toEqual([0, []]);
  });
});

describe('a resend of a code', () => {
  const resend = (
    challenge_id: string,
    deps: Partial<ResendCodeDeps> = {},
    asked: CodePurpose = purpose,
    by?: string,
  ) => createResendCode({ ...fixture.deps, ...deps })(asked, { challenge_id }, fixture.origin, by);
  const limited = (retryAfterSeconds: number) => ({ code: 'ERR-RATE-LIMITED', retryAfterSeconds });

  test('a resend of a code is counted, and requests the email again, in whatever case the id is written', async () => {
    const user = await fixture.user();
    const { challenge_id } = await fixture.challenge(user, purpose);
    const before = await fixture.storedChallenge(challenge_id);
    const { origin } = fixture;
    const answer = await createResendCode(fixture.deps)(
      purpose,
      { challenge_id: challenge_id.toUpperCase() },
      { ...origin, locale: 'ru' },
    );
    const resend_at = after(60);
    const expires_at = after(540).toISOString();
    const timestamp = fixture.now().toISOString();
    expect(answer).toEqual({ challenge_id, expires_at, resend_at: resend_at.toISOString(), timestamp });
    const resent = { ...before, resends_left: 2, resend_at, resent_by: expect.any(String) };
    expect(await fixture.storedChallenge(challenge_id)).toEqual(resent);
    const [row] = await fixture.rows();
    const data = { challenge_id, user_id: user._id, purpose, locale: 'ru', expires_at };
    expect(row).toMatchObject({ state: 'pending', event: { data } });
    expect(fixture.audited).toEqual([
      [
        { event: 'code.resent', user_id: user._id, purpose },
        { ...origin, locale: 'ru' },
      ],
    ]);
    expect([fixture.limitCalls, fixture.verdicts]).toEqual([['try'], [false, true]]);
    await untilPublished(user._id);
    expect(publishedTo(user._id)).toEqual([row?.event]);
  });

  test('the last resend of a code says that there is no other', async () => {
    const { challenge_id } = await fixture.challenge(await fixture.user(), purpose, { resends_left: 1 });
    expect(await resend(challenge_id)).toMatchObject({ challenge_id, resend_at: null });
  });

  test.each<[string, () => Partial<ChallengeDocument>, number]>([
    ['is not due yet', () => ({ resend_at: after(30) }), 30],
    ['follows the last one', () => ({ resends_left: 0 }), 540],
  ])('a resend of a code that %s is refused with the time to wait', async (_, fields, seconds) => {
    const { challenge_id } = await fixture.challenge(await fixture.user(), purpose, fields());
    const before = await fixture.storedChallenge(challenge_id);
    await expect(resend(challenge_id)).rejects.toMatchObject(limited(seconds));
    const { user_id } = before ?? {};
    const event = { event: 'limit.exceeded', reason: 'code_resend', user_id };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    expect([await fixture.storedChallenge(challenge_id), await fixture.rows()]).toEqual([before, []]);
  });

  test('the second of two simultaneous resends of a code has to wait as well', async () => {
    const { challenge_id } = await fixture.challenge(await fixture.user(), purpose);
    const taken = { ...fixture.deps.challenges, takeResend: async () => undefined };
    await expect(resend(challenge_id, { challenges: taken })).rejects.toMatchObject(limited(60));
    expect(await fixture.rows()).toEqual([]);
  });

  test.each<[string, Partial<ChallengeDocument>, object]>([
    ['dead', { ended_at: new Date(0) }, { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } }],
    ['expired', { expires_at: new Date(0) }, { code: 'ERR-CODE-EXPIRED' }],
  ])('a resend of the code of a challenge that is %s is refused', async (_, fields, error) => {
    const { challenge_id } = await fixture.challenge(await fixture.user(), purpose, fields);
    await expect(resend(challenge_id)).rejects.toMatchObject(error);
  });

  test('a resend of a code finds no challenge of another purpose or caller', async () => {
    const user = await fixture.user();
    const { challenge_id } = await fixture.challenge(user, purpose);
    const unknown = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };
    await expect(resend(randomUUID())).rejects.toMatchObject(unknown);
    await expect(resend(challenge_id, {}, 'account_deletion')).rejects.toMatchObject(unknown);
    await expect(resend(challenge_id, {}, purpose, randomUUID())).rejects.toMatchObject(unknown);
    expect(await resend(challenge_id, {}, purpose, user._id)).toMatchObject({ challenge_id });
  });

  test.each<[string, 'pending' | 'delivered', CodePurpose, () => Promise<UserDocument>]>([
    [
      'a new email address that nobody has',
      'pending',
      'email_change',
      () => fixture.user({ pending_email: 'New@example.com' }),
    ],
    ['a new email address that another account has', 'delivered', 'email_change', () => wanting('other@example.com')],
    ['the email address, whatever the account wants', 'pending', 'password_reset', () => wanting('third@example.com')],
    ['the account’s own email address in another spelling', 'pending', 'email_change', () => respelling()],
    ['no new email address any more', 'pending', 'email_change', () => fixture.user()],
    ['nobody', 'delivered', 'password_reset', async () => ({ ...(await fixture.user()), _id: randomUUID() })],
  ])('the event of a resend to %s is stored as %s', async (_, state, asked, person) => {
    const { challenge_id } = await fixture.challenge(await person(), asked);
    await resend(challenge_id, {}, asked);
    expect(await fixture.rows()).toMatchObject([{ state }]);
  });

  /** Stores an account that wants to change to the email address of another account. */
  async function wanting(email: string): Promise<UserDocument> {
    await fixture.user({ email, email_key: email });
    return fixture.user({ pending_email: email });
  }

  async function respelling(): Promise<UserDocument> {
    return fixture.user({ email: 'a@example.com', email_key: 'a@example.com', pending_email: 'A@example.com' });
  }
});

describe('a check of a code', () => {
  const check = (body: { challenge_id: string; code: string }, userId?: string, asked: CodePurpose = purpose) =>
    createCheckCode(fixture.deps)(asked, body, fixture.origin, userId === undefined ? {} : { user_id: userId });
  const failed = (user_id: string | undefined, reason: string) => [
    [{ event: 'code.failed', user_id, purpose, reason }, fixture.origin],
  ];
  const wrong = (code: string) => String((Number(code) + 1) % 1e8).padStart(8, '0');
  const invalid = (tries_left = 0) => ({ code: 'ERR-CODE-INVALID', details: { tries_left } });
  const challenges = () => fixture.deps.challenges;
  const use = async (code: Awaited<ReturnType<typeof check>>) =>
    fixture.mongo.withSession((session) =>
      session.withTransaction(() => useCode(challenges(), code, fixture.now(), session)),
    );
  const isUsed = (code: Awaited<ReturnType<typeof check>>) => isCodeUsed(challenges(), code);

  test('a right code returns its account, and is used up in the transaction of what it permits', async () => {
    const user = await fixture.user();
    const { challenge_id, code } = await fixture.challenge(user, purpose);
    const body = { challenge_id: challenge_id.toUpperCase(), code };
    const [one, other] = [await check(body), await check(body, user._id)];
    expect([one.user, other.user]).toEqual([user, user]);
    expect(await fixture.storedChallenge(challenge_id)).toMatchObject({ tries_left: 5, ended_at: null });
    expect([await isUsed(one), await isUsed(other)]).toEqual([false, false]);
    await use(one);
    await expect(use(other)).rejects.toMatchObject(invalid());
    expect([await isUsed(one), await isUsed(other)]).toEqual([true, false]);
    expect(await fixture.storedChallenge(challenge_id)).toMatchObject({ ended_at: fixture.now() });
    expect(fixture.audited).toEqual([]);
  });

  test('a right code is refused in its transaction if five wrong ones were counted since it was compared', async () => {
    const { challenge_id, code } = await fixture.challenge(await fixture.user(), purpose);
    const right = await check({ challenge_id, code });
    for (const left of [4, 3, 2, 1, 0]) {
      await expect(check({ challenge_id, code: wrong(code) })).rejects.toMatchObject(invalid(left));
    }
    await expect(use(right)).rejects.toMatchObject(invalid());
    expect(await isUsed(right)).toBe(false);
  });

  test('a wrong code gets no verdict if others have left no try for it', async () => {
    const user = await fixture.user();
    const { challenge_id, code } = await fixture.challenge(user, purpose, { tries_left: 1 });
    const guess = () => expect(check({ challenge_id, code: wrong(code) })).rejects.toMatchObject(invalid(0));
    await Promise.all(Array.from({ length: 8 }, guess));
    const reasons = fixture.audited.map(([event]) => ('reason' in event ? event.reason : undefined));
    expect(reasons.toSorted()).toEqual([...Array(7).fill('dead'), 'wrong']);
  });

  test('a wrong code takes a try', async () => {
    const user = await fixture.user();
    const { challenge_id, code } = await fixture.challenge(user, purpose);
    await expect(check({ challenge_id, code: wrong(code) })).rejects.toMatchObject(invalid(4));
    expect(fixture.audited).toEqual(failed(user._id, 'wrong'));
  });

  test.each<[string, Partial<ChallengeDocument>, object]>([
    ['dead', { tries_left: 0 }, { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } }],
    ['expired', { expires_at: new Date(0) }, { code: 'ERR-CODE-EXPIRED' }],
  ])('the code of a challenge that is %s is refused', async (reason, fields, error) => {
    const user = await fixture.user();
    const asked = await fixture.challenge(user, purpose, fields);
    await expect(check(asked)).rejects.toMatchObject(error);
    expect(fixture.audited).toEqual(failed(user._id, reason));
  });

  test('a check of a code finds no challenge of another purpose or caller', async () => {
    const user = await fixture.user();
    const asked = await fixture.challenge(user, 'account_deletion');
    await expect(check(asked)).rejects.toMatchObject(invalid());
    expect(fixture.audited).toEqual(failed(undefined, 'unknown'));
    await expect(check(asked, randomUUID(), 'account_deletion')).rejects.toMatchObject(invalid());
    expect((await check(asked, user._id, 'account_deletion')).user).toEqual(user);
  });

  test('every code of an unknown account is refused, and so is one to an email address that an account no longer wants', async () => {
    const nobody = { ...(await fixture.user()), _id: randomUUID() };
    const asked = await fixture.challenge(nobody, 'email_change');
    await expect(check(asked, undefined, 'email_change')).rejects.toMatchObject(invalid(4));
    expect(fixture.audited[0]?.[0]).toMatchObject({ user_id: undefined, reason: 'wrong' });
    const contented = await fixture.challenge(await fixture.user(), 'email_change');
    await expect(check(contented, undefined, 'email_change')).rejects.toMatchObject(invalid(4));
  });

  test('a check of a code waits for a key that has just been made, and asks to retry if it does not come', async () => {
    const user = await fixture.user();
    const [former, newer] = [{ keys: [generateSecretKey()] } as const, { keys: [generateSecretKey()] } as const];
    let rereads = 0;
    const arriving = (set: typeof newer) => {
      let present = former;
      return {
        current: () => present,
        reread: async () => {
          rereads += 1;
          present = set;
        },
      };
    };
    fixture.keys.use({ current: () => newer, reread: async () => undefined });
    const asked = await fixture.challenge(user, purpose);
    fixture.keys.use(arriving(newer));
    expect((await check(asked)).user).toEqual(user);
    expect((await check(asked)).user).toEqual(user);
    expect(rereads).toBe(1);
    fixture.keys.use(arriving(former));
    await expect(check(asked)).rejects.toBeInstanceOf(MissingKeyError);
  });
});

test.each([
  [{ locale: 'ru' }, { locale: 'en' }, 'ru'],
  [{}, { locale: 'ru' }, 'ru'],
  [undefined, {}, 'en'],
] as const)('a mail to %j, asked for by %j, is written in %s', (user, asked, locale) => {
  expect(mailLocale(user, { ...fixture.origin, ...asked })).toBe(locale);
});
