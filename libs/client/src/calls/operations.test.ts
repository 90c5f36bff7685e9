import { expect, test } from '@jest/globals';
import { operations as all, type OperationName } from '../generated/operations.ts';
import type { Keeper } from '../session/keeper.ts';
import type { Call } from './call.ts';
import { createOperations } from './operations.ts';

/** Operations that other modules of the client call. */
const elsewhere: readonly OperationName[] = ['registerAccount', 'logIn', 'refreshTokens', 'logOut'];

test('has a method for every operation of the route table', async () => {
  const called = new Set<string>(elsewhere);
  const call = (async (name: OperationName) => {
    called.add(name);
    return {};
  }) as unknown as Call;
  const keeper = {
    load: async () => ({ era: '', logouts: [] }),
    state: () => ({ status: 'unknown' }),
    end: async () => undefined,
    access: async () => ({ token: '' }),
    renew: async () => undefined,
  } as unknown as Keeper;
  const made = createOperations({
    platform: { randomUUID: () => 'a', now: () => 0 },
    call,
    keeper,
    deviceId: async () => 'device',
  });
  await callAll(made);
  expect([...called].sort()).toEqual(Object.keys(all).sort());
});

async function callAll(methods: object): Promise<void> {
  for (const method of Object.values(methods)) {
    if (typeof method === 'function') await method({});
    else await callAll(method);
  }
}
