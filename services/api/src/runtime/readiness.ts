import type { Check } from '@auth-account/lifecycle';
import { missingIndexes } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import type { Db } from 'mongodb';
import type { ApiConfig } from '../config.ts';
import type { Connections } from './shutdown-steps.ts';

export interface ReadinessDeps {
  readonly connections: Pick<Connections, 'mongo' | 'redis' | 'limitRedis' | 'queueRedis'>;
  readonly config: Pick<ApiConfig, 'MONGODB_DATABASE'>;
  readonly logger: Pick<Logger, 'error'>;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsed?: () => number;
}

/** A mongos, a load balancer or a single server reports no election, so no answer could be confirmed. */
const noReplicaSet = 'MONGODB_URI must name the members of a replica set';

/** Returns the checks of readiness. Only MongoDB must answer, with its indexes, before the api takes requests. */
export function readinessChecks({ connections, config, logger, elapsed = () => performance.now() }: ReadinessDeps) {
  const { mongo, redis, limitRedis, queueRedis } = connections;
  const db = mongo.db(config.MONGODB_DATABASE);
  const checks: Check[] = [
    {
      name: 'mongodb',
      async run() {
        const { setName } = await db.command({ hello: 1 });
        return setName === undefined ? { ok: false, reason: noReplicaSet } : { ok: true };
      },
    },
    createIndexCheck(db, logger, elapsed),
    {
      // No answer of the api needs Redis, because the worker repeats whatever Redis has missed.
      name: 'redis',
      run() {
        const away = [redis, limitRedis, queueRedis].find(({ status }) => status !== 'ready');
        return { ok: true, ...(away && { reason: `connection is ${away.status}` }) };
      },
    },
  ];
  return checks;
}

/** Milliseconds until the next look at the indexes, if all are there and if one is missing. */
const [lookEveryMs, lookAgainMs] = [60_000, 5_000];

/**
 * Checks that the unique indexes are there. Without one of them, simultaneous requests would break a promise, such as
 * that of one account for each email address. It looks at the first probe and then once a minute. If a look fails, the
 * last one counts.
 */
function createIndexCheck(db: Db, logger: Pick<Logger, 'error'>, elapsed: () => number): Check {
  let missing: string | undefined;
  let nextLook = Number.NEGATIVE_INFINITY;

  async function look(): Promise<string> {
    const faults = await missingIndexes(db, 'unique');
    const found = faults.map(({ collection, index, fault }) => `${collection}.${index} ${fault}`).join(', ');
    if (found !== '' && found !== missing) logger.error({ indexes: found }, 'not ready: run the migration');
    nextLook = elapsed() + (found === '' ? lookEveryMs : lookAgainMs);
    return found;
  }

  return {
    name: 'indexes',
    async run() {
      if (elapsed() >= nextLook) {
        missing = await look().catch((error: unknown) => {
          if (missing === undefined) throw error;
          return missing;
        });
      }
      return missing === '' ? { ok: true } : { ok: false, reason: `${missing}: run the migration` };
    },
  };
}
