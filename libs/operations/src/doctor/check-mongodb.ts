import { missingIndexes } from '@auth-account/stores';
import { type Db, MongoServerSelectionError } from 'mongodb';
import type { Mongo } from '../context.ts';
import { checkClock, type Finding, failed, isAtLeast, ok } from './finding.ts';

const majorityTimeoutMs = 5_000;

/** Checks MongoDB; rejects if it does not answer. */
export async function checkMongodb({ db }: Pick<Mongo, 'db'>): Promise<Finding[]> {
  const hello = await db.admin().command({ hello: 1 });
  const isReplicated = typeof hello.setName === 'string' || hello.msg === 'isdbgrid';
  return [
    isReplicated
      ? ok('mongodb replica set', hello.setName ?? 'sharded')
      : failed(
          'mongodb replica set',
          'a standalone server: it has no transactions',
          'Start mongod with --replSet and run rs.initiate(), or point MONGODB_URI at a replica set.',
        ),
    await checkVersion(db),
    ...(isReplicated ? [await checkMajority(db)] : []),
    await checkIndexes(db),
    await checkClock('mongodb', async () => {
      const { localTime } = await db.admin().command({ hello: 1 });
      return (localTime as Date).getTime();
    }),
  ];
}

/**
 * Returns advice if members answer but no member can be used. Returns undefined if no member answers or something else
 * is wrong.
 */
export function fixOf(error: unknown): string | undefined {
  if (!(error instanceof MongoServerSelectionError)) return undefined;
  const members = [...(error.reason?.servers.values() ?? [])];
  const lost = members.filter(({ type }) => type === 'RSGhost').map(({ address }) => address);
  if (lost.length > 0) {
    const names = lost.join(', ');
    return `${names} answers, and is in no replica set: run rs.initiate() on a new one. If rs.status() there says REMOVED or code 93, its own name did not resolve when it started: see that it does, and restart it.`;
  }
  if (members.some(({ type }) => type === 'RSSecondary'))
    return 'Members answer, and none is primary: see rs.status() for those that are away, and start a majority of them.';
  return undefined;
}

async function checkVersion(db: Db): Promise<Finding> {
  const { version } = (await db.admin().buildInfo()) as { version?: string };
  if (version !== undefined && isAtLeast(version, [6, 0])) return ok('mongodb version', version);
  return failed('mongodb version', String(version), 'Upgrade MongoDB to 6.0 or later.');
}

/** Tries a write that changes nothing, because a majority acknowledges even such a write. */
async function checkMajority(db: Db): Promise<Finding> {
  const check = 'mongodb majority writes';
  const begun = performance.now();
  try {
    const writeConcern = { w: 'majority', wtimeoutMS: majorityTimeoutMs } as const;
    const probe = db.collection<{ _id: string }>('subscribers');
    await probe.updateOne({ _id: 'authctl doctor' }, { $unset: { probe: '' } }, { writeConcern });
    return ok(check, `acknowledged after ${Math.round(performance.now() - begun)} ms`);
  } catch (error) {
    return failed(
      check,
      (error as Error).message,
      'See rs.status(): a majority of the members must be up and not lag, and the user of MONGODB_URI must have readWrite.',
    );
  }
}

async function checkIndexes(db: Db): Promise<Finding> {
  const faults = await missingIndexes(db);
  if (faults.length === 0) return ok('mongodb indexes', 'all there');
  const list = faults.map(({ collection, index, fault }) => `${collection}.${index} ${fault}`).join(', ');
  return failed(
    'mongodb indexes',
    list,
    'Run the migration: node services/api/bin/migrate.ts. First drop an index that differs.',
  );
}
