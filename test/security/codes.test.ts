import { createLogger } from '@auth-account/telemetry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logIn, logOut, newEmail, newSession, password, registerAccount } from '../support/api/accounts.ts';
import {
  codeOf,
  confirmReset,
  requestChange,
  requestReset,
  requestVerification,
  wrongCodeOf,
} from '../support/api/codes.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { testEnvironment, uniqueName } from '../support/test-environment.ts';
import { flood, othersIn } from './flood.ts';
import { dumpRedis } from './secret-search.ts';

/** Races of each kind: 4 unless `CODE_RACE_ROUNDS` says 50. */
const rounds = Number(process.env.CODE_RACE_ROUNDS || 4);

const newPassword = 'three wrong staples';
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

// guarantees: five-codes-per-challenge
// answers: Keycloak CVE-2026-18963, https://github.com/keycloak/keycloak/issues/51833
// A reset set a new password without the mailed token.
test('only five codes of many simultaneous confirmations are compared', async () => {
  const { email } = await registerAccount(api);
  const challenge_id = await requestReset(api, email);
  const code = await wrongCodeOf(api, challenge_id);
  const body = { challenge_id, code, new_password: newPassword };
  const answers = await flood([api], () => api.confirmPasswordReset(body));
  expect(othersIn(answers, ['403 ERR-CODE-INVALID'])).toEqual([]);
  const verdicts = answers.filter(({ status }) => status === 403);
  const left = verdicts.map(({ json }) => json.details.tries_left).filter((tries) => tries !== 0);
  // A code may be compared for an answer of 503, which does not say so.
  const unanswered = answers.length - verdicts.length;
  expect([4, 3, 2, 1]).toEqual(expect.arrayContaining(left));
  expect([new Set(left).size, left.length + unanswered >= 4]).toEqual([left.length, true]);
  expect((await confirmReset(api, challenge_id)).status).toBe(403);
  await logIn(api, email);
});

// guarantees: five-codes-per-challenge
test('a right code is as good as before after six answers of 5xx', async () => {
  const appName = uniqueName();
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  const own = await startTestApi({ MONGODB_URI: uri.href });
  try {
    const { email } = await registerAccount(own);
    const challenge_id = await requestReset(own, email);
    const failing = { failCommands: ['commitTransaction'], errorCode: 96, appName };
    await withFailPoint(own.mongo, 'alwaysOn', failing, async () => {
      for (let sent = 0; sent < 6; sent += 1) {
        expect((await confirmReset(own, challenge_id)).status).toBeGreaterThanOrEqual(500);
      }
    });
    expect((await confirmReset(own, challenge_id)).status).toBe(200);
  } finally {
    await own.close();
  }
});

describe('sessions from before a reset', () => {
  type Race = (email: string, session: Awaited<ReturnType<typeof logIn>>) => Promise<unknown>;
  const races: [string, Race][] = [
    ['a login', (email) => api.logIn({ email, password })],
    ['a refresh', (_email, { refresh_token }) => api.refreshTokens({ refresh_token })],
    ['a logout', (_email, session) => logOut(api, session)],
    ['a login on the same device', (email, { device_id }) => api.logIn({ email, password, device_id })],
  ];

  // guarantees: reset-ends-sessions
  test.each(races)('no session from before a reset lives on if %s comes at the same time', async (_, race) => {
    for (let round = 0; round < rounds; round += 1) {
      const { email, user_id } = await registerAccount(api);
      const session = await logIn(api, email);
      const challengeId = await requestReset(api, email);
      const body = { challenge_id: challengeId, code: await codeOf(api, challengeId), new_password: newPassword };
      const racing = Array.from({ length: 3 }, () => race(email, session));
      const [reset] = await Promise.all([api.confirmPasswordReset(body), ...racing]);
      expect(reset.status).toBe(200);
      expect(await api.collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(0);
    }
  });
});

// guarantees: no-code-stored
test('neither a code nor an email address is in challenges, outbox, Redis or the log', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'api', level: 'trace', destination });
  const own = await startTestApi({}, {}, logger);
  try {
    const session = await newSession(own);
    const other = newEmail();
    const unknown = newEmail();
    const ids = [
      await requestReset(own, session.email),
      await requestReset(own, unknown),
      await requestVerification(own, session),
      await requestChange(own, session, other),
    ];
    const codes = await Promise.all(ids.map((id) => codeOf(own, id)));
    await confirmReset(own, String(ids[0]), { code: await wrongCodeOf(own, String(ids[0])) });
    const secrets = [...codes, session.email, other, unknown];
    const { challenges, outbox, idempotency, deadLetters } = own.collections;
    const documents = await Promise.all(
      [challenges, outbox, idempotency, deadLetters].map((all) => all.find({} as never).toArray()),
    );
    const places = { mongodb: JSON.stringify(documents), redis: await dumpOf(own.keyPrefix), log: lines.join('\n') };
    for (const id of ids) expect(places.mongodb).toContain(id);
    expect(places.redis).toContain('limit:code-');
    expect(places.log).toContain('code.requested');
    for (const [place, text] of Object.entries(places)) {
      // A match within a longer number does not count, because a time may have the same digits.
      const found = secrets.filter((secret) => new RegExp(`(?<![0-9a-f])${secret}(?![0-9a-f])`, 'i').test(text));
      expect([place, found]).toEqual([place, []]);
    }
  } finally {
    await own.close();
  }
});

/** Returns the names and values of all keys under a prefix. */
async function dumpOf(prefix: string): Promise<string> {
  const redis = new Redis(testEnvironment().redisUrl);
  try {
    return JSON.stringify(await dumpRedis(redis, `*${prefix}*`));
  } finally {
    redis.disconnect();
  }
}
