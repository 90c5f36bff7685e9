import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { examples } from '../generated/examples.ts';
import type { Operation } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Call } from './call.ts';
import type { ClientGroup, ClientGroupDeps } from './client-group.ts';

/** Operations that the core calls by itself. */
const ofCore = ['registerAccount', 'logIn', 'refreshTokens', 'logOut'];

const folder = new URL('../groups/', import.meta.url);

test('every other operation of the route table has a method in some group', async () => {
  const called = new Set<string>(ofCore);
  const call = (async ([name]: Operation) => {
    called.add(name);
    return { options: {}, passkeys: [], accepted_credential_ids: [] };
  }) as Call;
  /** Names a person who must prove an account first, so that the methods for them have somebody. */
  async function logInWith(operation: Operation): Promise<unknown> {
    const details = { link_challenge_id: 'given' };
    if (operation[0] === 'logInByProvider') called.add('logInByProvider');
    else return call(operation);
    throw new AuthError('ERR-ACCOUNT-LINK-REQUIRED', { details });
  }
  const sessionManager = {
    load: async () => ({ era: '', logouts: [] }),
    state: () => ({ status: 'unknown' }),
    end: async () => undefined,
    access: async () => ({ token: '' }),
    renew: async () => undefined,
  } as unknown as ClientGroupDeps['sessionManager'];
  const deps = {
    platform: { now: () => 0, storage: {}, timers: {} },
    ...{ create: async () => ({}), get: async () => ({}) },
    ...{ prefix: '', exclusive: async () => undefined, deviceId: async () => '', wrapLogIn: () => undefined },
    ...{ events: { notify: () => undefined, subscribe: () => undefined }, call, sessionManager, logInWith },
  } as unknown as ClientGroupDeps;
  for (const file of readdirSync(folder)) {
    const group: Record<string, ClientGroup<object>> = await import(new URL(file, folder).href);
    for (const create of Object.values(group)) {
      const made = create(deps);
      // A group that the app sets up is a function that returns the group.
      const methods = typeof made === 'function' ? made(deps) : made;
      for (const _ of ['at first', 'while somebody waits']) await callAll(methods);
    }
  }
  expect([...called].sort()).toEqual(examples.map(([[name]]) => name).sort());
});

async function callOne(method: (...input: unknown[]) => unknown): Promise<void> {
  const second = Object.assign(async () => ({}), { id_token: 'header.e30.signature' });
  try {
    await method({ challenge_id: 'given', email: 'given' }, second);
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
  }
}

async function callAll(methods: object): Promise<void> {
  for (const method of Object.values(methods)) {
    if (typeof method === 'function') await callOne(method);
    // A method may have further methods.
    await callAll(method);
  }
}
