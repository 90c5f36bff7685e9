import { maxTokenSeconds } from '@auth-account/config';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { createOwnMessagePublisher } from '@auth-account/messaging/push-messages';
import { createWriteProbe, redisKeys } from '@auth-account/redis';
import { createDenialPages, type ReadDenialPage } from '@auth-account/redis/denial-pages';
import { createDenyListReader } from '@auth-account/redis/deny-list-reader';
import type { Logger } from '@auth-account/telemetry';
import { createAnnounce, createIsDenied } from '../announcements/announce.ts';
import { createNotifySessions } from '../announcements/notify-sessions.ts';
import type { ApiConfig } from '../config.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import type { Connections } from '../runtime/shutdown-steps.ts';
import type { Waits } from './waits.ts';

interface Grounds {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  readonly connections: Pick<Connections, 'redis'>;
  readonly waits: Pick<Waits, 'announcement'>;
}

/** Limit for the denials in one answer of the feed (some 260 KiB). */
const denialPageSize = 5_000;

/** Announces changes by Redis, and reads what was announced. */
export function composeAnnouncements({ config, logger, metrics, connections: { redis }, waits }: Grounds) {
  const keys = redisKeys(config.KEY_PREFIX);
  const { takesWrites, doubt } = createWriteProbe(redis, keys.writeProbe);
  const denyList = createDenyList(redis, keys, denialLifetimeMs(maxTokenSeconds(config)), takesWrites);
  const onLost = () => {
    doubt();
    metrics.announcementsLost.inc();
  };
  const readPage = createDenialPages(createDenyListReader(redis, keys), denialPageSize);
  const readDenialPage: ReadDenialPage = async (cursor) => ((await takesWrites()) ? readPage(cursor) : undefined);
  return {
    denyList,
    isDenied: createIsDenied(denyList),
    announce: createAnnounce({ denyList, logger, onLost, waitMs: waits.announcement }),
    notifySessions: createNotifySessions({ push: createOwnMessagePublisher(redis, keys), logger }),
    readDenialPage,
  };
}
