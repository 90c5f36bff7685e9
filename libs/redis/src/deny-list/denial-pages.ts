import { type DenialPage, type DenyListReader, overlapMs, parseDenyListValue } from './deny-list-reader.ts';

/** A session whose tokens are refused. */
export interface Denied {
  readonly sessionId: string;
  /** The smallest `ver` that is still valid; Infinity if the session is revoked. */
  readonly below: number;
}

/** Position in the deny list up to which a caller has read. */
export interface DenialCursor {
  /** Identifies the server on which the list was completed, and that server's latest promotion to primary. */
  readonly server: string;
  /** Milliseconds of that server's clock. */
  readonly since: number;
}

/** Some of the denied sessions. */
export interface DeniedPage<Cursor = DenialCursor> {
  readonly denied: readonly Denied[];
  /** Cursor to pass to the next read. */
  readonly cursor: Cursor;
  /** True if there is more to read without waiting. */
  readonly hasMore: boolean;
}

/**
 * Reads the denials since the cursor. Starts from the beginning if there is no cursor, if the list has since been
 * completed on another server, or if the server's clock was set back. A page may repeat denials of another page, but no
 * denial is left out. Returns undefined if the list is not known to be complete.
 */
export type ReadDenialPage = (cursor: DenialCursor | undefined) => Promise<DeniedPage | undefined>;

/**
 * Number of values read by one command. A Redis script can return about 8,000 values, and other commands wait while it
 * runs.
 */
const valuesAtOnce = 1_000;

/** Reads the list in pages of about `pageSize`. */
export function createDenialPages(reader: DenyListReader, pageSize: number): ReadDenialPage {
  async function read(cursor: DenialCursor | undefined, limit: number): Promise<DeniedPage | undefined> {
    const page = await reader.page(cursor?.since ?? 0, limit);
    if (page === undefined) return undefined;
    const { server, denials, until } = page;
    if (cursor !== undefined && (server !== cursor.server || until < cursor.since)) return read(undefined, pageSize);
    const isFull = denials.length >= limit;
    const last = denials.at(-1)?.at ?? 0;
    // One millisecond has more denials than fit into a page, so twice as many are read.
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

/** Leaves out a session without a value, which was denied so long ago that its entry has expired. */
function toDenied(sessionId: string, text: string | null | undefined): Denied[] {
  const value = parseDenyListValue(text);
  if (value === undefined) return [];
  return [{ sessionId, below: value.kind === 'revoked' ? Number.POSITIVE_INFINITY : value.ver }];
}
