import type { DenyList } from '@auth-account/messaging/deny-list';
import { recordedEnd, type SessionStore } from '@auth-account/stores';
import type { Announcement } from './announce.ts';

export interface AnnounceAgainDeps {
  readonly sessions: Pick<SessionStore, 'findConfirmed'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
}

/** Returns whether Redis knows of the session's end; false if it does not answer. */
export type IsDenied = (sessionId: string) => Promise<boolean>;

export function createIsDenied(denyList: Pick<DenyList, 'peek'>): IsDenied {
  return async (sessionId) => {
    // Without an answer the end is announced once more, which is right too and only costs more.
    const [denial] = await denyList.peek([sessionId]).catch(() => []);
    return denial?.kind === 'revoked';
  };
}

/**
 * Makes the function that announces the end of a session once more, as MongoDB has it: the request that ended it may
 * have been killed, or answered 503, before it was announced. To be called by a request that is about to answer that
 * the session is over. It returns false, and announces nothing, if the session is not revoked after all: the revocation
 * that the caller saw has been rolled back.
 *
 * It waits until a majority has the end, and throws the driver's error (503) if none has it in time. An end that Redis
 * knows of was announced when a majority had it, so one command to Redis is enough: repeating such a request costs
 * neither the majority nor the gateways anything.
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
