import { readFileSync } from 'node:fs';

/** Operations that apps do all the time. A handshake sends nothing to MongoDB. */
export type HotOperation = 'register' | 'login' | 'refresh' | 'session read' | 'account read' | 'logout';

/** Reasons for a query that is not answered by an index, in the index's order. */
interface Reasons {
  /** Reason to sort in memory. */
  readonly sorts?: string;
  /** Reason to read the whole collection. */
  readonly scans?: string;
}

/** A query that the services send today. */
export interface KnownQuery extends Reasons {
  /** The hot operations that send the query. Such a query has no reason. */
  readonly hot: readonly HotOperation[];
}

/**
 * Reasons by query, in the form of `shapeOf`, in which fields without a sign must equal a value, and `<>` is a range.
 * The test `test/integration/stores/queries.test.ts` fails for a query that needs one and has none here.
 */
const reasons: Readonly<Record<string, Reasons>> = {
  'challenges find {ended_at, expires_at <>, purpose, tries_left <>, user_id} by created_at': {
    sorts: 'the codes of one user, whose number the limits bound',
  },
  'outbox find {event.requestid} by _id': { sorts: 'a request writes a few rows, and 100 are read at most' },
  'subscribers find {configured_at exists}': { scans: 'a few documents' },
  'subscribers find {}': { scans: 'a few documents, all of which are wanted' },
  'upgrades find {}': { scans: 'a few documents, all of which are wanted' },
};

/** A file with the hot operations that send each query, which `npm run generate queries` writes. */
export const recordedFile = new URL('../../integration/stores/queries.json', import.meta.url);
const recorded: Readonly<Record<string, string>> = JSON.parse(readFileSync(recordedFile, 'utf8'));

/** Every query that was recorded or has a reason, by the query's shape. */
export const knownQueries: Readonly<Record<string, KnownQuery>> = Object.fromEntries(
  [...new Set([...Object.keys(reasons), ...Object.keys(recorded)])].sort().map((shape) => {
    const hot = (recorded[shape] ?? '').split(', ').filter((name) => name !== '') as HotOperation[];
    return [shape, { ...reasons[shape], hot }];
  }),
);
