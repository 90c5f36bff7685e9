import { AppError } from '@auth-account/errors';
import type { SessionStore, SessionSummary } from '@auth-account/stores';
import type { RequestMark, SessionDocument } from '@auth-account/stores/documents';
import type { RefreshTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import { none, type Outcome } from '../../announcements/commit.ts';
import { hasSameBody, idempotentForMs } from '../../idempotency/open-idempotent.ts';
import { createAwaitKey } from '../../security/await-key.ts';

/** Outcome of a login. */
export interface Opened extends Outcome {
  readonly session: SessionDocument;
  /** True if an earlier login with the same `Idempotency-Key` has opened the session. */
  readonly isReplayed: boolean;
}

export interface FindOpenedDeps {
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly refreshTokens: Pick<RefreshTokens, 'hasKey' | 'rereadKeys'>;
  readonly now: () => Date;
}

/** A login with an `Idempotency-Key`. */
interface MarkedLogin {
  readonly marks: readonly RequestMark[];
  /** The account's live sessions. */
  readonly live: readonly SessionSummary[];
  readonly at: Date;
}

/**
 * Creates the function that finds the live session that an earlier login with the same `Idempotency-Key` has opened.
 * Raises `ERR-IDEMPOTENCY-KEY-REUSED` if that login had another body.
 */
export function createFindOpened({ sessions, refreshTokens, now }: FindOpenedDeps) {
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  return async (login: MarkedLogin, transactionSession: ClientSession): Promise<Opened | undefined> => {
    const sessionId = openedBy(login);
    const session = sessionId === undefined ? undefined : await sessions.find(sessionId, transactionSession);
    if (session === undefined) return;
    await awaitKey(session);
    const verified = { event: 'login.verified', user_id: session.user_id, session_id: session._id } as const;
    return { session, isReplayed: true, events: none, audit: [verified], sessions: none };
  };
}

function openedBy({ marks, live, at }: MarkedLogin): string | undefined {
  const isKnown = ({ _id }: RequestMark) => marks.some((mark) => mark._id === _id);
  const earlier = live.find(
    ({ opened_by = [], created_at, expires_at }) =>
      opened_by.some(isKnown) && expires_at > at && created_at.getTime() + idempotentForMs > at.getTime(),
  );
  if (earlier?.opened_by && !hasSameBody(marks, earlier.opened_by)) throw new AppError('ERR-IDEMPOTENCY-KEY-REUSED');
  return earlier?._id;
}
