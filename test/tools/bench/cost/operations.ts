import { logIn, logOut, registerAccount } from '../../../support/api/accounts.ts';
import { type ApiDriver, bearer, dataOf } from '../../../support/api/api-driver.ts';
import type { SeededSession } from './session-seeds.ts';

/** Source of an operation's accounts and sessions. */
export interface TestBed {
  /** Number of refreshes of each session, one after another. */
  readonly refreshesEach: number;
  /** Returns the addresses of `count` accounts. */
  accounts(count: number): Promise<readonly string[]>;
  /** Returns `count` live sessions, which nothing else has used or will use. */
  sessions(count: number): Promise<readonly SeededSession[]>;
}

/** Does the run with this index. Throws if it does not succeed. */
export type OperationRun = (index: number) => Promise<unknown>;

/** Creates the data for `count` runs, and returns the function that does a run. */
type Operation = (api: ApiDriver, testBed: TestBed, count: number) => Promise<OperationRun>;

/** Enough sessions for all operations that run at once, because two refreshes with one token would count as theft. */
const leastSessions = 64;

export const operations = {
  register: async (api) => () => registerAccount(api),
  login: async (api, testBed, count) => {
    const emails = await testBed.accounts(count);
    return (index) => logIn(api, emails[index] ?? '');
  },
  // Each session asks repeatedly, so every look-up of its token after the first is a cache hit.
  'session read': async (api, testBed, count) => {
    const sessions = await testBed.sessions(Math.min(count, 100));
    return (index) => dataOf(api.listSessions(bearer(sessions[index % sessions.length] as SeededSession)));
  },
  // Each session refreshes repeatedly with its newest token, as a device does.
  refresh: async (api, testBed, count) => {
    const wanted = Math.max(leastSessions, Math.ceil(count / testBed.refreshesEach));
    const idle = (await testBed.sessions(Math.min(count, wanted))).map(({ refresh_token }) => refresh_token);
    return async () => {
      const { refresh_token } = await dataOf(api.refreshTokens({ refresh_token: idle.shift() }));
      idle.push(refresh_token);
    };
  },
  logout: async (api, testBed, count) => {
    const sessions = await testBed.sessions(count);
    return (index) => dataOf(logOut(api, sessions[index] as SeededSession));
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

/**
 * Returns the operations of a list, in which a dash may stand for a space, in the order of measuring. Throws if the list
 * has another word that is not among the parts.
 */
export function findOperations(list: string, parts: readonly string[] = []): OperationName[] {
  const words = list.split(',').map((word) => word.replaceAll('-', ' '));
  const known = [...parts, ...measuringOrder];
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0) throw new Error(`--only knows ${known.join(', ')}, not ${unknown.join(', ')}`);
  return measuringOrder.filter((name) => words.includes(name));
}

/** A server that answers operations, which is a process with its own database. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  /** Creates the data for `count` runs of an operation, and returns the function that does a run. */
  prepare(operation: OperationName, count: number): Promise<OperationRun>;
  end(): Promise<void>;
}
