import type { AuthEvent, AuthState } from '../events.ts';
import type { Keeper } from './keeper.ts';
import type { SessionRecord } from './session-record.ts';

/** Reports each change of the session to the app, once. */
export interface Changes {
  /**
   * Reports a change of the record. Without records, it reports that the record can't be read, or a logout that the user
   * asked for while it could not be read.
   */
  follow(before?: SessionRecord, after?: SessionRecord): void;
}

export function createChanges(keeper: () => Keeper, tell: (event: AuthEvent) => void): Changes {
  let told: AuthState = { status: 'unknown' };
  return {
    follow(before, after) {
      const was = told;
      told = keeper().state();
      if (JSON.stringify(was) === JSON.stringify(told)) return;
      tell({ type: 'state', state: told });
      // This is not reported when the app starts. If no user was signed in, no session has ended.
      const hasEnded = was.status === 'signed_in' || (was.status === 'unknown' && keeper().endings() > 0);
      if (told.status === 'signed_out' && (hasEnded || told.reason === 'storage_lost'))
        tell({ type: 'signed_out', reason: told.reason });
      const group = after?.session?.home_group_id;
      const isMove = before?.era === after?.era && group !== undefined && group !== before?.session?.home_group_id;
      if (isMove) tell({ type: 'group_changed', home_group_id: group });
    },
  };
}
