import type { CloseReason } from '@auth-account/contracts';
import type { DenyEntry, DenyList } from '@auth-account/messaging/deny-list';
import { type RevocationCloseReason, recordedEnd, type SessionStore } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';

/** Sessions that have been revoked. */
interface Revoked {
  readonly sessionIds: readonly string[];
  readonly reason: RevocationCloseReason;
  /** A session that is not revoked, but whose stream the logout closes too. */
  readonly alsoClose?: string | undefined;
}

/** Sessions whose claims have changed, with the version that is valid from now on. */
export interface Changed {
  readonly changed: readonly { readonly sessionId: string; readonly ver: number }[];
  readonly reason: Extract<CloseReason, 'GROUP_CHANGED'>;
}

/** A committed change of sessions, announced to the api's own check of tokens and to the gateways. */
export type Announcement = (Revoked | Changed) & {
  readonly requestId: string;
  readonly at: Date;
};

export interface AnnounceDeps {
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly logger: Logger;
  /** Called when an announcement is lost. */
  readonly onLost: () => void;
  /** Milliseconds for which an answer waits for its announcement at most. */
  readonly waitMs: number;
}

/**
 * Denies the sessions of a committed change and closes their streams. It waits for Redis for a limited time and never
 * fails. If an announcement is lost here, the worker repeats it from MongoDB.
 */
export function createAnnounce({
  denyList,
  logger,
  onLost,
  waitMs,
}: AnnounceDeps): (announcement: Announcement) => Promise<void> {
  return async (announcement) => {
    const notified = denyList.denyAndClose(entriesOf(announcement)).catch((error: unknown) => {
      onLost();
      logger.warn({ err: error, request_id: announcement.requestId }, 'change not announced: left to the worker');
    });
    const { promise: waited, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    await Promise.race([notified, waited]);
    clearTimeout(timer);
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

export interface AnnounceAgainDeps {
  readonly sessions: Pick<SessionStore, 'findConfirmed'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
}

/** Returns true if Redis knows that the session has ended; false if it does not, or cannot be asked. */
export type IsDenied = (sessionId: string) => Promise<boolean>;

export function createIsDenied(denyList: Pick<DenyList, 'peek'>): IsDenied {
  return async (sessionId) => {
    // If Redis does not answer, the end is announced once more. A second announcement does no harm and only costs more.
    const [denial] = await denyList.peek([sessionId]).catch(() => []);
    return denial?.kind === 'revoked';
  };
}

/**
 * Announces once more the end of a session that MongoDB has stored. The request that ended the session may have been
 * killed, or answered 503, before it announced anything. A use case calls this before it answers that the session is
 * over. If the session is not revoked, because the write that the use case has read was rolled back, the function
 * returns false and announces nothing.
 *
 * It waits until a majority of MongoDB's members has stored the end, and throws the driver's error (503) if that takes
 * too long. If Redis knows the end, a majority has already stored it. So a repeated request costs one question to
 * Redis, but neither a majority read nor another close command.
 */
export function createAnnounceAgain({ sessions, announce, isDenied }: AnnounceAgainDeps) {
  return async (sessionId: string, alsoClose?: string): Promise<boolean> => {
    if (await isDenied(sessionId)) return true;
    const session = await sessions.findConfirmed(sessionId);
    if (session === undefined || !session.is_revoked) return false;
    await announce({ sessionIds: [sessionId], ...recordedEnd(session), alsoClose });
    return true;
  };
}
