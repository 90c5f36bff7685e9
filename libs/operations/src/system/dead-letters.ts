import type { Stores } from '@auth-account/stores';
import type { DeadLetterDocument } from '@auth-account/stores/documents';
import { maskEmailsIn } from '../views/mask-email.ts';
import { shortTopic } from '../views/messages.ts';
import { cursorAt, type Page, pageSize, placeOf, readTime } from '../views/pages.ts';

const place = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\S{1,200})$/;

/**
 * Lists dead letters by the time at which they were given up, oldest first, of one subscriber or of all. Throws an
 * `OperationError` of the kind `invalid` for a wrong cursor.
 */
export async function pageOfDeadLetters(
  { deadLetters }: Pick<Stores, 'deadLetters'>,
  { after, subscriber }: { readonly after?: string | undefined; readonly subscriber?: string | undefined },
): Promise<Page<ReturnType<typeof describeLetter>>> {
  const from = after === undefined ? {} : { after: letterOf(after) };
  const letters = await deadLetters.list({ ...from, ...(subscriber && { subscriber }), limit: pageSize + 1 });
  const shown = letters.slice(0, pageSize);
  const last = shown.at(-1);
  const hasMore = letters.length > shown.length && last !== undefined;
  return {
    items: shown.map(describeLetter),
    next: hasMore ? cursorAt(`${last.created_at.toISOString()} ${last._id}`) : null,
  };
}

function letterOf(cursor: string): Pick<DeadLetterDocument, '_id' | 'created_at'> {
  const [, time = '', _id = ''] = place.exec(placeOf(cursor, place)) ?? [];
  return { _id, created_at: readTime(time) };
}

function describeLetter({ event_id, subscriber, topic, attempts, last_error, created_at }: DeadLetterDocument) {
  const error = maskEmailsIn(last_error);
  return { event_id, subscriber, topic: shortTopic(topic), attempts, last_error: error, given_up_at: created_at };
}
