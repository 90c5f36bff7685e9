import type { DenyList } from '@auth-account/messaging/deny-list';
import { recordedEnd, type SessionStore } from '@auth-account/stores';
import type { Announcement } from './announce.ts';

export interface AnnounceAgainDeps {
  readonly sessions: Pick<SessionStore, 'findConfirmed'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
}

/** Says whether Redis has heard of the session's end; false if it cannot be asked. */
export type IsDenied = (sessionId: string) => Promise<boolean>;

export function createIsDenied(denyList: Pick<DenyList, 'peek'>): IsDenied {
  return async (sessionId) => {
    // Without an answer the end is announced once more, which is right as well and only costs more.
    const [denial] = await denyList.peek([sessionId]).catch(() => []);
    return denial?.kind === 'revoked';
  };
}

/**
 * Makes the function that announces the end of a session once more, as MongoDB remembers it: whoever ended it may have been
 * killed, or told 503, before anybody heard of it. To be called by what is about to say that the session is over. It
 * answers false, and announces nothing, where the session is not revoked after all: what was seen of it has been rolled
 * back.
 *
 * It waits until a majority has the end, and throws the driver's error (503) where none has it in time. An end that Redis
 * has heard of was announced when a majority had it, so one question to Redis is enough: to repeat such a request costs
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
