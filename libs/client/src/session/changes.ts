import type { AuthEvent } from '../events.ts';
import { stateOf } from './keeper.ts';
import type { SessionRecord } from './session-record.ts';

/** The events of a change of the record. */
export function changesOf(before: SessionRecord | undefined, after: SessionRecord): AuthEvent[] {
  const [was, is] = [stateOf(before), stateOf(after)];
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  const events: AuthEvent[] = [{ type: 'state', state: is }];
  if (is.status === 'signed_out' && was.status === 'signed_in') events.push({ type: 'signed_out', reason: is.reason });
  const group = after.session?.home_group_id;
  const isMove = before?.era === after.era && group !== undefined && group !== before.session?.home_group_id;
  if (isMove) events.push({ type: 'group_changed', home_group_id: group });
  return events;
}
