import type { Reaction as CatalogueReaction, Retry as CatalogueRetry } from '@auth-account/errors';
import { catalogue } from '@auth-account/errors';
import { expect, test } from '@jest/globals';
import { internalServiceReactions } from './internal-service-reactions.ts';
import { type Reaction, type Retry, reactions } from './reactions.ts';

/** Compiles only if each reaction that the client knows is a reaction of the catalogue. */
const isCatalogues: (reaction: Reaction, retry: Retry) => [CatalogueReaction, CatalogueRetry] = (reaction, retry) => [
  reaction,
  retry,
];

test('the generated table has reaction and retry of every row of the catalogue', () => {
  const rows = Object.entries(catalogue).map(([code, { reaction, retry }]) => [
    code,
    retry === 'never' ? [reaction] : [reaction, retry],
  ]);
  expect(Object.fromEntries(rows)).toEqual({ ...reactions, ...internalServiceReactions });
  expect(rows).toHaveLength(Object.keys(reactions).length + Object.keys(internalServiceReactions).length);
  expect(isCatalogues(...reactions.IAD_JWT_ACCESS_EXPIRED)[1]).toBe('after_refresh');
});
