import { recordedEnd, type SessionStore } from '@auth-account/stores';
import type { Announcement } from './announce.ts';

export interface AnnounceAgainDeps {
  readonly sessions: Pick<SessionStore, 'findConfirmed'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
}

/**
 * Makes the function that announces the end of a session once more, as MongoDB remembers it: whoever ended it may have been
 * killed, or told 503, before anybody heard of it. To be called by what is about to say that the session is over. It
 * answers false, and announces nothing, where the session is not revoked after all: what was seen of it has been rolled
 * back.
 *
 * It waits until a majority has the end, and throws the driver's error (503) where none has it in time.
 */
export function createAnnounceAgain({ sessions, announce }: AnnounceAgainDeps) {
  return async (sessionId: string, alsoClose?: string): Promise<boolean> => {
    const session = await sessions.findConfirmed(sessionId);
    if (session === undefined || !session.is_revoked) return false;
    await announce({ sessionIds: [sessionId], ...recordedEnd(session), alsoClose });
    return true;
  };
}
