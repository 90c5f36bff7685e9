import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { newEmail, password } from '../../support/accounts.ts';
import { seedAccounts } from '../../support/seed-accounts.ts';
import type { HttpLane } from './http-lane.ts';
import { seedSessions } from './seed-sessions.ts';

/** Where an operation finds its accounts and sessions. */
export interface Ground {
  readonly collections: Collections;
  readonly keys: KeyFiles;
  /** PHC string of the password that all seeded accounts have. */
  readonly passwordHash: string;
}

/** Makes what `count` runs need, and gives the run with that number. */
export type Operation = (ground: Ground, count: number) => Promise<(lane: HttpLane, index: number) => Promise<void>>;

const auth = '/api/v1/auth';

export const operations = {
  register: async () => async (lane) => {
    const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    await lane.send({ path: `${auth}/register`, body });
  },
  login: async ({ collections, passwordHash }, count) => {
    const emails = await seedAccounts(collections, count, passwordHash);
    return async (lane, index) => {
      await lane.send({ path: `${auth}/login`, body: { email: emails[index], password } });
    };
  },
  // One session asks again and again: of its token every look but the first is a hit in the cache.
  'session read': async ({ collections, keys }, count) => {
    const sessions = await seedSessions(collections, keys, Math.min(count, 100));
    return async (lane, index) => {
      const token = sessions[index % sessions.length]?.accessToken ?? '';
      await lane.send({ method: 'GET', path: `${auth}/sessions`, token });
    };
  },
  refresh: async ({ collections, keys }, count) => {
    const sessions = await seedSessions(collections, keys, count);
    return async (lane, index) => {
      await lane.send({ path: `${auth}/refresh`, body: { refresh_token: sessions[index]?.refreshToken } });
    };
  },
  logout: async ({ collections, keys }, count) => {
    const sessions = await seedSessions(collections, keys, count);
    return async (lane, index) => {
      const { accessToken: token = '', refreshToken: refresh_token = '' } = sessions[index] ?? {};
      await lane.send({ path: `${auth}/logout`, body: { refresh_token }, token });
    };
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
