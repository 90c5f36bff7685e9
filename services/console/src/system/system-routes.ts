import { type Mongo, type RedisStore, toOperationError } from '@auth-account/operations';
import { pageOfDeadLetters, readSubscribers, shareWork, viewSystem } from '@auth-account/operations/system';
import type { DeadLetterView, Page, SystemView } from '../contract/index.ts';
import { asAnswer } from '../http/as-answer.ts';
import { type Route, route } from '../http/route.ts';

interface SystemDeps {
  readonly mongo: Pick<Mongo, 'stores'>;
  readonly useMongo: <T>(work: (store: Mongo) => Promise<T>) => Promise<T>;
  readonly useRedis: <T>(work: (store: RedisStore) => Promise<T>) => Promise<T>;
  readonly config: {
    readonly CONSOLE_PROMETHEUS_URL?: string | undefined;
    readonly CONSOLE_METRICS_URLS: readonly string[];
  };
  readonly now: () => Date;
}

/** Milliseconds for which all readers of a process see the same state of all but the subscribers. */
const sharedMs = 5_000;

/** Creates the routes that look at the system. None of them shows or changes an account. */
export function systemRoutes({ mongo, useMongo, useRedis, config, now }: SystemDeps): Route[] {
  const { CONSOLE_PROMETHEUS_URL: prometheusUrl, CONSOLE_METRICS_URLS: metricsUrls } = config;
  const metrics = { prometheusUrl, metricsUrls };
  const view = shareWork(() => viewSystem({ useMongo, useRedis, metrics, now }), sharedMs);
  const plain = { method: 'GET', role: 'viewer', kind: 'plain' } as const;
  return [
    route({
      ...{ ...plain, path: '/api/system' },
      async answer(): Promise<SystemView> {
        // Whoever has just suspended one must see it, by whichever process.
        const fresh = readSubscribers({ useMongo }).catch((error: unknown) => {
          if (toOperationError(error) === undefined) throw error;
        });
        const [system, subscribers = system.subscribers] = await Promise.all([view(), fresh]);
        return asAnswer({ ...system, subscribers });
      },
    }),
    route({
      ...plain,
      path: '/api/dead-letters',
      async answer({ query: { after, subscriber } }): Promise<Page<DeadLetterView>> {
        return asAnswer(await pageOfDeadLetters(mongo.stores, { after, subscriber }));
      },
    }),
  ];
}
