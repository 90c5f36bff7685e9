import type { Requirement, Version } from './check-binary.ts';

const flaw = 'CVE-2025-14847';

/** First patch of each series in which it is fixed; no patch of other series before 8.2 has the fix. */
const fixedIn: Readonly<Record<string, number>> = { '6.0': 27, '7.0': 28, '8.0': 17, '8.2': 3 };

/**
 * CVE-2025-14847 ("MongoBleed"): whoever reaches the port reads memory of mongod without logging in. The local stack's
 * mongod listens on loopback only, so that is whoever has an account on this machine.
 */
function findMongoBleed(version: Version, patch: number): string | undefined {
  const [major, minor] = version;
  if (major > 8 || (major === 8 && minor > 2)) return undefined;
  const series = version.join('.');
  const fixed = fixedIn[series];
  if (fixed === undefined) return `(${series}.${patch}) has ${flaw}`;
  return patch >= fixed ? undefined : `(${series}.${patch}) has ${flaw}, fixed in ${series}.${fixed}`;
}

/** No feature above MongoDB 6.0 is used. */
export const ANY_MONGODB: Requirement = { minimum: [6, 0] };

export const MONGODB_REQUIREMENT: Requirement = { ...ANY_MONGODB, findFlaw: findMongoBleed };

/** End of the titles of the steps that take a mongod all the same if there is no other. */
export const despiteFlaw = `despite ${flaw}`;
