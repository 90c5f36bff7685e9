import type { GatewayCommand } from '@auth-account/messaging';
import { type RevokedSession, recordedEnd } from '@auth-account/stores';

/** The streams of other sessions, which live on, that a logout closes with that of the session it ends. */
export interface OtherStreams {
  /**
   * Publishes the close commands that belong to the ends in `missing`, but for those that an earlier page has shown: they
   * have been told, and Redis has only forgotten them. To be told again would close the next stream of a session that
   * lives. `missing` is part of `page`.
   */
  close(missing: readonly RevokedSession[], page: readonly RevokedSession[]): Promise<void>;
  /** Forgets the ends that were decided before that time (milliseconds since the epoch), which no page shows any more. */
  forget(before: number): void;
}

export function createOtherStreams(publish: (command: GatewayCommand) => Promise<void>): OtherStreams {
  /** Ends that a page has shown, and when each was decided; only those that have another stream. */
  const shown = new Map<string, number>();

  function remember({ _id, revoked_at, revoked_also_close }: RevokedSession): void {
    if (revoked_also_close !== undefined) shown.set(_id, revoked_at?.getTime() ?? 0);
  }

  return {
    async close(missing, page) {
      const unheard = missing.filter(({ _id }) => !shown.has(_id));
      await Promise.all(
        unheard.map(async (session) => {
          await Promise.all(commandOf(session).map(publish));
          // Each by itself: of several, one whose publish fails must not have the others told again.
          remember(session);
        }),
      );
      for (const session of page) remember(session);
    },
    forget(before) {
      for (const [sessionId, decidedAt] of shown) if (decidedAt < before) shown.delete(sessionId);
    },
  };
}

function commandOf(session: RevokedSession): GatewayCommand[] {
  const { revoked_also_close: session_id } = session;
  if (session_id === undefined) return [];
  const { reason, requestId: request_id, at } = recordedEnd(session);
  return [{ type: 'close', session_id, reason, request_id, decided_at: at.getTime() }];
}
