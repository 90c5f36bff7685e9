import type { DialectName } from './dialect.ts';

/** Message to the client's process. */
export type ClientOrder =
  /** Opens the sessions of the file `sessions` from index `from` to below `to`, `inFlight` at once. */
  | {
      readonly kind: 'open';
      readonly port: number;
      readonly from: number;
      readonly to: number;
      readonly inFlight: number;
    }
  /** Reports once that many messages have arrived from now on. */
  | { readonly kind: 'await-messages'; readonly count: number };

/** Message from the client's process. Times are of `monotonicNow`. */
export type ClientReport =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'opened';
      readonly opened: number;
      readonly failed: number;
      readonly firstError: string | undefined;
      readonly begunAt: number;
      readonly endedAt: number;
    }
  | { readonly kind: 'closed'; readonly index: number; readonly at: number; readonly code: number }
  | { readonly kind: 'awaiting' }
  | { readonly kind: 'messages'; readonly times: readonly number[] };

/** Settings on the client's command line, as JSON. */
export interface ClientSettings {
  readonly dialect: DialectName;
  /** JSON file: array of `BenchSession`. */
  readonly sessions: string;
  /** Second byte of its addresses, 127.N.0.1 and on: each client has another. */
  readonly network: number;
}
