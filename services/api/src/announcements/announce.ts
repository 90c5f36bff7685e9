import { setTimeout as delay } from 'node:timers/promises';
import type { CloseReason } from '@auth-account/contracts';
import type { DenyEntry, DenyList } from '@auth-account/messaging/deny-list';
import type { RevocationCloseReason } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';

/** Sessions that have been revoked. */
interface Revoked {
  readonly sessionIds: readonly string[];
  readonly reason: RevocationCloseReason;
  /** A session that is not revoked, but whose stream the logout closes too. */
  readonly alsoClose?: string | undefined;
}

/** Sessions whose claims have changed, with the version that is good from now on. */
interface Changed {
  readonly changed: readonly { readonly sessionId: string; readonly ver: number }[];
  readonly reason: Extract<CloseReason, 'GROUP_CHANGED'>;
}

/** A committed change of sessions, for the api's own check and the gateways. */
export type Announcement = (Revoked | Changed) & {
  readonly requestId: string;
  readonly at: Date;
};

export interface AnnounceDeps {
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly logger: Logger;
  /** Called when an announcement is lost. */
  readonly onLost: () => void;
}

/** Milliseconds for which an answer waits for its announcement (decisions, "Logout"). */
const maximumWaitMs = 250;

/**
 * Makes the function that has a committed change denied and its streams closed. It waits for Redis for 250 ms at most
 * and never fails: the worker makes good what is lost here, from MongoDB.
 */
export function createAnnounce({
  denyList,
  logger,
  onLost,
}: AnnounceDeps): (announcement: Announcement) => Promise<void> {
  return async (announcement) => {
    const told = denyList.denyAndClose(entriesOf(announcement)).catch((error: unknown) => {
      onLost();
      logger.warn({ err: error, request_id: announcement.requestId }, 'change not announced: left to the worker');
    });
    const limit = new AbortController();
    await Promise.race([told, delay(maximumWaitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
  };
}

function entriesOf(announcement: Announcement): DenyEntry[] {
  const shared = { requestId: announcement.requestId, decidedAt: announcement.at.getTime() };
  if ('changed' in announcement) {
    return announcement.changed.map(({ sessionId, ver }) => ({ ...shared, sessionId, denial: { kind: 'below', ver } }));
  }
  const { sessionIds, reason, alsoClose } = announcement;
  return sessionIds.map((sessionId) => ({ ...shared, sessionId, denial: { kind: 'revoked', reason }, alsoClose }));
}
