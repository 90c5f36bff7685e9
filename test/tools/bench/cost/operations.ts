import { newEmail, password } from '../../../support/api/accounts.ts';
import { requestTo } from '../../../support/api/api-driver.ts';
import type { HttpLane } from './http-lane.ts';
import type { TestBed } from './test-bed.ts';

/** Does the run with this index. */
export type OperationRun = (index: number) => Promise<void>;

/** Creates the data for `count` runs, and returns the function that does the run with a given index. */
export type Operation = (testBed: TestBed, count: number) => Promise<(lane: HttpLane, index: number) => Promise<void>>;

/** Enough sessions for all operations that run at once, because two refreshes with one token would count as theft. */
const leastSessions = 64;

export const operations = {
  register: async () => async (lane) => {
    const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    await lane.send(requestTo('registerAccount', body));
  },
  login: async (testBed, count) => {
    const emails = await testBed.accounts(count);
    return async (lane, index) => {
      await lane.send(requestTo('logIn', { email: emails[index], password }));
    };
  },
  // Each session asks repeatedly, so every look-up of its token after the first is a cache hit.
  'session read': async (testBed, count) => {
    const sessions = await testBed.sessions(Math.min(count, 100));
    return async (lane, index) => {
      const token = sessions[index % sessions.length]?.accessToken ?? '';
      await lane.send({ ...requestTo('listSessions'), token });
    };
  },
  // Each session refreshes repeatedly with its newest token, as a device does.
  refresh: async (testBed, count) => {
    const wanted = Math.max(leastSessions, Math.ceil(count / testBed.refreshesEach));
    const idle = (await testBed.sessions(Math.min(count, wanted))).map(({ refreshToken }) => refreshToken);
    return async (lane) => {
      const { refresh_token } = await lane.send(requestTo('refreshTokens', { refresh_token: idle.shift() }));
      idle.push(refresh_token);
    };
  },
  logout: async (testBed, count) => {
    const sessions = await testBed.sessions(count);
    return async (lane, index) => {
      const { accessToken: token = '', refreshToken: refresh_token = '' } = sessions[index] ?? {};
      await lane.send({ ...requestTo('logOut', { refresh_token }), token });
    };
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
export const operationNames = Object.keys(operations) as OperationName[];
/** Operations whose cost is mostly the hash. */
export const hashedOperations: ReadonlySet<OperationName> = new Set(['register', 'login']);
/**
 * Operations with a hash come last. On their own they run too rarely for V8 to compile the code that all operations
 * share.
 */
export const measuringOrder: readonly OperationName[] = operationNames.toSorted(
  (a, b) => Number(hashedOperations.has(a)) - Number(hashedOperations.has(b)),
);

/** Returns the operation with this name, in which a dash may stand for a space; undefined if there is none. */
export function findOperation(name: string): OperationName | undefined {
  return operationNames.find((known) => known === name.replaceAll('-', ' '));
}
