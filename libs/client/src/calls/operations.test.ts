import { expect, test } from '@jest/globals';
import { accountOperations, coreOperations, householdOperations, type OperationName } from '../generated/operations.ts';
import { account } from '../groups/account.ts';
import { household } from '../groups/household.ts';
import type { Keeper } from '../session/keeper.ts';
import type { Call } from './call.ts';
import { createSessions } from './sessions.ts';

/** Operations that other modules of the client call. */
const elsewhere: readonly OperationName[] = ['registerAccount', 'logIn', 'refreshTokens', 'logOut'];

const all = [coreOperations, accountOperations, householdOperations].flatMap(Object.keys);

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
  const platform = { randomUUID: () => 'a', now: () => 0 };
  const deps = { platform, call, keeper, deviceId: async () => 'device' };
  for (const made of [createSessions(deps), account.create(deps), household.create(deps)]) await callAll(made);
  expect([...called].sort()).toEqual(all.sort());
});

async function callAll(methods: object): Promise<void> {
  for (const method of Object.values(methods)) {
    if (typeof method === 'function') await method({});
    else await callAll(method);
  }
}
