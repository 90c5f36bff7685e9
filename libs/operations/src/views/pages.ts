import { OperationError } from '../operation-error.ts';

/** Items of a part of a list. */
export const pageSize = 20;

/** A part of a list, and the cursor of the next one; null at the end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Returns the cursor of the items beyond a place: an id or a time. */
export function cursorAt(place: string | Date): string {
  return Buffer.from(typeof place === 'string' ? place : place.toISOString()).toString('base64url');
}

/** Returns the place of a cursor. Throws an `OperationError` of the kind `invalid` if it has not that form. */
export function placeOf(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (cursor.length <= 400 && form.test(place) && cursorAt(place) === cursor) return place;
  throw new OperationError('invalid', 'The cursor is none of this list.');
}

/** Returns the time of a cursor; undefined without one. Throws what `placeOf` throws. */
export function timeOf(cursor: string | undefined): Date | undefined {
  if (cursor === undefined) return undefined;
  return readTime(placeOf(cursor, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
}

/** Returns the time in a cursor. Throws an `OperationError` of the kind `invalid` if there is no such time. */
export function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new OperationError('invalid', 'The cursor is none of this list.');
  return time;
}

/**
 * Returns the newest items, a page of them or a few more: those of the same moment stay together, because the cursor is
 * a time.
 */
export function newestPage<T extends { readonly at: Date }>(items: readonly T[], hasMore = false): Page<T> {
  const sorted = items.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const last = sorted[pageSize - 1]?.at ?? sorted.at(-1)?.at ?? new Date(0);
  const shown = sorted.filter(({ at }) => at >= last);
  return { items: shown, next: shown.length < sorted.length || hasMore ? cursorAt(last) : null };
}
