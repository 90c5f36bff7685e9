import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { seedAccounts } from '../../../support/seed-accounts.ts';
import { makeHash } from './bare-hash.ts';
import type { Ground } from './ground.ts';
import { createSessionSeeds } from './session-seeds.ts';

/** Creates a ground that writes new accounts and sessions, as registrations and logins would have left them. */
export function freshGround(collections: Collections, keys: KeyFiles): Ground {
  return {
    refreshesEach: 16,
    accounts: (count) => seedAccounts(collections, count, makeHash()),
    async sessions(count) {
      const { newSession } = await createSessionSeeds(keys);
      const seeds = Array.from({ length: count }, () => newSession());
      await collections.sessions.insertMany(seeds.map(({ document }) => document));
      return seeds.map(({ tokens }) => tokens());
    },
  };
}
