import { setTimeout as delay } from 'node:timers/promises';
import type { CloseReason } from '@auth-account/contracts';
import type { DenyEntry, DenyList, GatewayCommand } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';

/** A revocation that has been committed, to be told to the API's own check and to the gateways. */
export interface Announcement {
  readonly sessionIds: readonly string[];
  readonly reason: Extract<CloseReason, 'LOGOUT_CONFIRMED' | 'SESSION_REVOKED'>;
  readonly requestId: string;
  readonly at: Date;
  /** A session that is not revoked, but whose stream closes all the same. */
  readonly alsoClose?: string | undefined;
}

export interface AnnounceDeps {
  readonly denyList: DenyList;
  readonly publish: (command: GatewayCommand) => Promise<void>;
  readonly logger: Logger;
  /** A lost announcement, counted. */
  readonly onLost: () => void;
}

/** Milliseconds for which an answer waits for its announcement (decisions, "Logout"). */
const maximumWaitMs = 250;

/**
 * Makes the function that writes the deny list and publishes the close commands, after the commit. It waits for Redis
 * for 250 ms at most and never fails: what is lost here is made good by the worker, from MongoDB.
 */
export function createAnnounceRevocations(deps: AnnounceDeps): (announcement: Announcement) => Promise<void> {
  const { denyList, publish, logger, onLost } = deps;

  async function send({ sessionIds, reason, requestId, at, alsoClose }: Announcement): Promise<void> {
    const decidedAt = at.getTime();
    const denial = { kind: 'revoked', reason } as const;
    const entries = sessionIds.map((sessionId): DenyEntry => ({ sessionId, denial, reason, requestId, decidedAt }));
    const close = { type: 'close', reason, request_id: requestId, decided_at: decidedAt } as const;
    await Promise.all([
      denyList.deny(entries),
      alsoClose === undefined ? undefined : publish({ ...close, session_id: alsoClose }),
    ]);
  }

  return async (announcement) => {
    if (announcement.sessionIds.length === 0) return;
    const sent = send(announcement).catch((error: unknown) => {
      onLost();
      logger.warn({ err: error, request_id: announcement.requestId }, 'revocation not announced: left to the worker');
    });
    const limit = new AbortController();
    await Promise.race([sent, delay(maximumWaitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
  };
}
