import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Provider } from '@auth-account/local-stack/provider';
import { newRemoval } from '@auth-account/stores/factor-removals';
import { Binary } from 'mongodb';
import { newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { newDeviceKey } from '../../support/api/device-key.ts';
import { addPasskey, passkeyLogin } from '../../support/api/passkeys.ts';
import { newHome, newPerson, requestProviderLogin } from '../../support/api/providers.ts';
import type { TestStack } from '../../support/processes/test-stack.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';

/** A fault, and the alerts that it must cause. */
export interface Fault {
  readonly name: string;
  readonly alerts: readonly string[];
  /** Causes the fault, and keeps it up until the signal is aborted. */
  readonly induce: (stack: TestStack, enough: AbortSignal) => Promise<void>;
}

/** Repeats the work until the signal is aborted, with that many clients at once. */
async function until(enough: AbortSignal, pauseMs: number, work: () => Promise<unknown>, clients = 1): Promise<void> {
  const repeat = async () => {
    for (; !enough.aborted; await pause(pauseMs)) await work();
  };
  await Promise.all(Array.from({ length: clients }, repeat));
}

const refusingSubscribers: Fault = {
  name: 'one subscriber answers 500, one 410',
  alerts: ['AuthSubscriberParked', 'AuthDeliveriesFailing', 'AuthOutboxOld', 'AuthDeadLetters'],
  induce: (stack, enough) => until(enough, 500, () => registerAccount(stack)),
};

const flood: Fault = {
  name: '60 logins at once, again and again',
  alerts: ['AuthHashesShed', 'AuthAvailabilityBudgetFastBurn'],
  induce: (stack, enough) => until(enough, 200, () => stack.logIn({ email: newEmail(), password }), 60),
};

const refusedClient = (provider: Provider): Fault => ({
  name: "the provider refuses the service's key",
  alerts: ['AuthProviderCodesFailing'],
  async induce(stack, enough) {
    provider.behave({ status: 400, body: '{"error":"invalid_client"}' }, 'token');
    await until(enough, 500, async () => {
      const { challenge_id, nonce } = await requestProviderLogin(stack);
      const person = newPerson();
      const id_token = await provider.sign({ ...person, aud: 'app', nonce });
      const authorization_code = provider.issueCode({ sub: person.sub, aud: 'app' });
      await stack.logInByProvider({ provider: 'office', challenge_id, id_token, authorization_code, ...newHome });
    });
  },
});

const foreignSecurityEvents = (provider: Provider): Fault => ({
  name: 'security event tokens come for a client id that the configuration lacks',
  alerts: ['AuthProviderNoticesRefused'],
  induce: (stack, enough) =>
    until(enough, 500, async () => {
      const events = JSON.stringify({ type: 'consent-revoked', sub: randomUUID() });
      const payload = await provider.sign({ aud: 'new-app', jti: randomUUID(), events });
      await stack.receiveProviderNotice({ provider: 'office', payload });
    }),
});

const foreignOrigin: Fault = {
  name: 'an app with an unknown certificate asks for passkeys, until it meets a limit',
  alerts: ['AuthPasskeysRefused', 'AuthRateLimited'],
  async induce(stack, enough) {
    const { authenticator } = await addPasskey(stack, await newSession(stack));
    const logIn = async () =>
      stack.logInByPasskey(await passkeyLogin(stack, authenticator, { origin: 'android:apk-key-hash:unknown' }));
    await until(enough, 50, logIn, 10);
  },
};

const wrongProofs: Fault = {
  name: 'apps prove their key for another URL',
  alerts: ['AuthDeviceProofsRefused'],
  async induce(stack, enough) {
    const DPoP = newDeviceKey().prove({ path: '/elsewhere' });
    const { email } = await registerAccount(stack, newEmail());
    await until(enough, 100, () => stack.logIn({ email, password }, { DPoP }));
  },
};

const foreignRefreshes: Fault = {
  name: 'refresh tokens are not by our keys',
  alerts: ['AuthRefreshesFailing'],
  async induce(stack, enough) {
    const { refresh_token } = await newSession(stack);
    const foreign = refresh_token.replace(/.{8}$/, 'AAAAAAAA');
    await until(enough, 50, () => stack.refreshTokens({ refresh_token: foreign }));
  },
};

/** All processes share the file. */
const brokenKeyFile: Fault = {
  name: 'the file of the server keys is broken',
  alerts: ['AuthKeyFileRefused'],
  async induce(_, enough) {
    const file = serviceEnvironment('').SERVER_KEYS_FILE ?? '';
    const text = await readFile(file);
    await writeFile(file, '{');
    await until(enough, 100, async () => undefined);
    await writeFile(file, text);
  },
};

/** A removal that MongoDB refuses, because the account's counter is no number, and a token under a lost key. */
const stuckWork: Fault = {
  name: 'a second factor cannot be removed, and a token of a provider cannot be revoked for 30 days',
  alerts: ['AuthFactorRemovalsOverdue', 'AuthProviderRevocationsFailing'],
  async induce({ collections: { users, providerRevocations }, ...stack }: TestStack, enough) {
    const { user_id } = await registerAccount(stack);
    const [ago, kid, box] = [new Date(Date.now() - 31 * 86_400_000), 'lost', new Binary(Buffer.alloc(48))];
    const removal = { ...newRemoval(ago, 'mail'), due_at: ago };
    const totp = { factor_id: randomUUID(), kid, seed: box, confirmed_at: ago, last_step: 1, removal };
    await users.updateOne({ _id: user_id }, { $set: { totp, touches: 'none' as never } });
    await until(enough, 2_000, async () => {
      const row = { _id: randomUUID(), user_id, provider: 'office', kid, token: box, client_id: 'app' };
      await providerRevocations.insertOne({ ...row, created_at: ago, due_at: ago, attempts: 20 });
    });
  },
};

const gatewayGone: Fault = {
  name: 'the only push gateway is ended',
  alerts: ['AuthServiceNotReady', 'AuthTargetDown'],
  induce: (stack) => stack.services['push-gateway'].stop(),
};

const redisGone: Fault = {
  name: 'Redis is killed, and apps go on',
  alerts: ['AuthRedisAway'],
  async induce(stack, enough) {
    const session = await newSession(stack);
    await stack.redis.kill();
    await until(enough, 0, () => stack.listSessions(bearer(session)));
  },
};

/** Returns the faults in their order. Redis ends last, because the effects of that hide the effects of other faults. */
export const faultsWith = (provider: Provider): readonly Fault[] => [
  ...[refusingSubscribers, flood, refusedClient(provider), foreignSecurityEvents(provider), foreignOrigin],
  ...[wrongProofs, foreignRefreshes, brokenKeyFile, stuckWork, gatewayGone, redisGone],
];
