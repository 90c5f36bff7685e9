import type { AuthEvent, AuthState } from '../events.ts';
import type { SessionManager } from './session-manager.ts';
import type { SessionRecord } from './session-record.ts';

/** Reports each change of the session to the app, once. */
export interface Changes {
  /**
   * Reports a change of the record. Without records, it reports that the record can't be read, or a logout that the user
   * asked for while it could not be read.
   */
  follow(before?: SessionRecord, after?: SessionRecord): void;
}

export function createChanges(sessionManager: () => SessionManager, notify: (event: AuthEvent) => void): Changes {
  let notified: AuthState = { status: 'unknown' };
  return {
    follow(before, after) {
      const was = notified;
      notified = sessionManager().state();
      if (JSON.stringify(was) === JSON.stringify(notified)) return;
      notify({ type: 'state', state: notified });
      // This is not reported when the app starts. If no user was signed in, no session has ended.
      const hasEnded = was.status === 'signed_in' || (was.status === 'unknown' && sessionManager().endings() > 0);
      if (notified.status === 'signed_out' && (hasEnded || notified.reason === 'storage_lost'))
        notify({ type: 'signed_out', reason: notified.reason });
      const group = after?.session?.home_group_id;
      const isMove = before?.era === after?.era && group !== undefined && group !== before?.session?.home_group_id;
      if (isMove) notify({ type: 'group_changed', home_group_id: group });
    },
  };
}
