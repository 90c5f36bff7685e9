import type { DialectName } from './dialect.ts';

/** To the client's process. */
export type ClientOrder =
  /** Sessions of the file `sessions` from index `from` to below `to` are opened, `inFlight` at once. */
  | {
      readonly kind: 'open';
      readonly port: number;
      readonly from: number;
      readonly to: number;
      readonly inFlight: number;
    }
  /** It reports when that many messages have arrived from now on. */
  | { readonly kind: 'await-messages'; readonly count: number };

/** From the client's process. Times are of `monotonicNow`. */
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

/** On the client's command line, as JSON. */
export interface ClientSettings {
  readonly dialect: DialectName;
  /** JSON file: array of `BenchSession`. */
  readonly sessions: string;
  /** Second byte of its addresses, 127.N.0.1 and on: each client has its own. */
  readonly network: number;
}
