import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { examples } from '../generated/examples.ts';
import type { Operation } from '../generated/operations.ts';
import type { Call } from './call.ts';
import type { ClientGroup, ClientGroupDeps } from './client-group.ts';

/** Operations that the core calls by itself. */
const ofCore = ['registerAccount', 'logIn', 'refreshTokens', 'logOut'];

const folder = new URL('../groups/', import.meta.url);

test('some group has a method for every other operation of the route table', async () => {
  const called = new Set<string>(ofCore);
  const call = (async ([name]: Operation) => {
    called.add(name);
    return { options: {}, passkeys: [], accepted_credential_ids: [] };
  }) as Call;
  const keeper = {
    load: async () => ({ era: '', logouts: [] }),
    state: () => ({ status: 'unknown' }),
    end: async () => undefined,
    access: async () => ({ token: '' }),
    renew: async () => undefined,
  } as unknown as ClientGroupDeps['keeper'];
  const deps = {
    platform: { now: () => 0, storage: {}, timers: {} },
    ...{ create: async () => ({}), get: async () => ({}) },
    ...{ prefix: '', exclusive: async () => undefined, deviceId: async () => '', wrapLogIn: () => undefined },
    ...{ events: { tell: () => undefined, subscribe: () => undefined }, call, keeper, logInWith: call },
  } as unknown as ClientGroupDeps;
  for (const file of readdirSync(folder)) {
    const group: Record<string, ClientGroup<object>> = await import(new URL(file, folder).href);
    for (const create of Object.values(group)) {
      const made = create(deps);
      // A group that the app sets up is a function that returns the group.
      await callAll(typeof made === 'function' ? made(deps) : made);
    }
  }
  expect([...called].sort()).toEqual(examples.map(([[name]]) => name).sort());
});

async function callAll(methods: object): Promise<void> {
  for (const method of Object.values(methods)) {
    if (typeof method === 'function') await method({ challenge_id: 'given', email: 'given' }, async () => ({}));
    // A method may have further methods.
    await callAll(method);
  }
}
