import { join } from 'node:path';
import { createLimitKeys } from '@auth-account/redis';
import { emailKey } from '@auth-account/stores';
import { loadKeyFile, readSecret } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newEmail, newSession } from '../../support/api/accounts.ts';
import { changeEmail } from '../../support/api/codes.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { type ErasureFixture, openErasureFixture } from '../../support/worker/erasure-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

let fixture: ErasureFixture;
let redis: Redis;
/** Returns true if the limits know from where the account with this email address has logged in. */
let hasCounts: (email: string) => Promise<boolean>;
beforeAll(async () => {
  fixture = await openErasureFixture(uniqueName());
  redis = new Redis(testEnvironment().redisUrl);
  const { keys } = await loadKeyFile(join(testEnvironment().keysDir, 'server-keys.json'));
  const names = keys.map((key) => createLimitKeys(fixture.api.keyPrefix, () => readSecret(key)));
  hasCounts = async (email) => {
    const kept = names.flatMap(({ tagOf, knownOf, provenOf, wrongOf }) => {
      const account = tagOf('account', emailKey(email));
      return [knownOf(account), provenOf(account), wrongOf('factor', account), wrongOf('password', account)];
    });
    return (await redis.exists(...kept)) > 0;
  };
});
afterAll(async () => {
  redis.disconnect();
  await fixture.close();
});

type Session = Awaited<ReturnType<typeof newSession>>;

const userOf = ({ user_id }: Pick<Session, 'user_id'>) => fixture.api.collections.users.findOne({ _id: user_id });
const formerOf = async (session: Session) => (await userOf(session))?.former_emails?.map(({ email }) => email);

/** Makes the account's former email addresses lapse an hour ago. */
async function lapse({ user_id }: Session): Promise<void> {
  const until = new Date(Date.now() - 3_600_000);
  await fixture.api.collections.users.updateOne({ _id: user_id }, { $set: { 'former_emails.$[].until': until } });
}

/** Runs a worker until it has removed the account's former email addresses, or for as long as `work` lasts. */
async function sweep(session: Session, work?: () => Promise<void>): Promise<void> {
  const worker = await startTestWorker(fixture.env);
  try {
    await work?.();
    await eventually('they are removed', async () => (await formerOf(session)) === undefined);
  } finally {
    await worker.close();
  }
}

/** Creates an account that has changed its email address. */
async function newChanged() {
  const session = await newSession(fixture.api);
  const new_email = newEmail();
  await changeEmail(fixture.api, session, new_email);
  return { session, new_email };
}

describe('a former email address', () => {
  test('a former email address is removed when it has lapsed, and its known devices and networks are forgotten', async () => {
    const [{ session, new_email }, other] = [await newChanged(), await newChanged()];
    expect([await hasCounts(session.email), await hasCounts(new_email)]).toEqual([true, true]);
    await lapse(session);
    await sweep(session);
    expect([await hasCounts(session.email), await hasCounts(new_email)]).toEqual([false, true]);
    expect([await formerOf(other.session), await hasCounts(other.session.email)]).toEqual([
      [other.session.email],
      true,
    ]);
  });

  test('a former email address that the next change drops loses its known devices and networks too', async () => {
    const { session } = await newChanged();
    await lapse(session);
    await changeEmail(fixture.api, session, newEmail());
    expect(await formerOf(session)).toContain(session.email);
    await lapse(session);
    await sweep(session);
    expect(await hasCounts(session.email)).toBe(false);
  });
});
