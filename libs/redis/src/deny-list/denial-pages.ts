import { type DenialPage, type DenyListReader, overlapMs, parseDenyListValue } from './deny-list-reader.ts';

/** A session whose tokens are refused. */
export interface Denied {
  readonly sessionId: string;
  /** The smallest `ver` that is still good; Infinity if the session is revoked. */
  readonly below: number;
}

/** Place in the deny list up to which somebody has read. */
export interface DenialCursor {
  /** The server and the promotion under which the list was completed. */
  readonly server: string;
  /** Milliseconds of that server's clock. */
  readonly since: number;
}

/** Part of what is denied. */
export interface DeniedPage<Cursor = DenialCursor> {
  readonly denied: readonly Denied[];
  /** To be passed to the next question. */
  readonly cursor: Cursor;
  /** True if there is more to read at once. */
  readonly hasMore: boolean;
}

/**
 * Reads what was denied since the cursor; everything that is denied if there is none, or if it does not fit the server:
 * another one has completed the list since, or its clock was set back. A page may repeat what another one had, and
 * leaves nothing out. Returns undefined if the list is not known to be complete.
 */
export type ReadDenialPage = (cursor: DenialCursor | undefined) => Promise<DeniedPage | undefined>;

/** Values in one command: a script of Redis can return some 8,000, and others wait meanwhile. */
const valuesAtOnce = 1_000;

/** Creates the function that reads the list in pages of about that size. */
export function createDenialPages(reader: DenyListReader, pageSize: number): ReadDenialPage {
  async function read(cursor: DenialCursor | undefined, limit: number): Promise<DeniedPage | undefined> {
    const page = await reader.page(cursor?.since ?? 0, limit);
    if (page === undefined) return undefined;
    const { server, denials, until } = page;
    if (cursor !== undefined && (server !== cursor.server || until < cursor.since)) return read(undefined, pageSize);
    const isFull = denials.length >= limit;
    const last = denials.at(-1)?.at ?? 0;
    // More denials of one millisecond than fit into a page: it takes twice as many.
    if (isFull && last === denials[0]?.at) return read(cursor, limit * 2);
    const denied = await valuesOf(page);
    return denied && { denied, cursor: { server, since: isFull ? last : until - overlapMs }, hasMore: isFull };
  }

  async function valuesOf({ denials }: DenialPage): Promise<Denied[] | undefined> {
    const denied: Denied[] = [];
    for (let from = 0; from < denials.length; from += valuesAtOnce) {
      const ids = denials.slice(from, from + valuesAtOnce).map(({ sessionId }) => sessionId);
      const values = await reader.find(ids);
      if (values === undefined) return undefined;
      denied.push(...ids.flatMap((sessionId, i) => toDenied(sessionId, values[i])));
    }
    return denied;
  }

  return (cursor) => read(cursor, pageSize);
}

/** A session without a value was denied so long ago that its entry has gone. */
function toDenied(sessionId: string, text: string | null | undefined): Denied[] {
  const value = parseDenyListValue(text);
  if (value === undefined) return [];
  return [{ sessionId, below: value.kind === 'revoked' ? Number.POSITIVE_INFINITY : value.ver }];
}
