import type { Requirement, Version } from './check-binary.ts';

const flaw = 'CVE-2025-14847';

/**
 * The first patch of each series that has the fix for MongoBleed. Other series before 8.2 have no patch with the fix.
 */
const fixedIn: Readonly<Record<string, number>> = { '6.0': 27, '7.0': 28, '8.0': 17, '8.2': 3 };

/**
 * Returns a reason to refuse the version if it has CVE-2025-14847 ("MongoBleed"): anybody who reaches the port can read
 * mongod's memory without logging in. The local stack's mongod listens only on loopback, which only users of this
 * machine can reach.
 */
function findMongoBleed(version: Version, patch: number): string | undefined {
  const [major, minor] = version;
  if (major > 8 || (major === 8 && minor > 2)) return undefined;
  const series = version.join('.');
  const fixed = fixedIn[series];
  if (fixed === undefined) return `(${series}.${patch}) has ${flaw}`;
  return patch >= fixed ? undefined : `(${series}.${patch}) has ${flaw}, fixed in ${series}.${fixed}`;
}

/** Any MongoDB from 6.0 on, because no newer feature is used. */
export const ANY_MONGODB: Requirement = { minimum: [6, 0] };

export const MONGODB_REQUIREMENT: Requirement = { ...ANY_MONGODB, findFlaw: findMongoBleed };

/** End of the titles of steps that accept a mongod with the flaw if there is no other. */
export const despiteFlaw = `despite ${flaw}`;
