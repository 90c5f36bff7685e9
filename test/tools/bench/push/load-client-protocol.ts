/** A message to the client's process. */
export type ClientOrder =
  /** Opens the streams of sessions with the indexes `from` to `to - 1` in the file `sessions`, `inFlight` at once. */
  | {
      readonly kind: 'open';
      readonly port: number;
      readonly from: number;
      readonly to: number;
      readonly inFlight: number;
    }
  /** Sends a report when `count` further messages have arrived. */
  | { readonly kind: 'await-messages'; readonly count: number };

/** A message from the client's process. Times are from `monotonicNow`. */
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
  /** Path of a JSON file with an array of `BenchSession`. */
  readonly sessions: string;
  /** Second byte of the client's IP addresses (127.N.0.1 and on), which differs for each client. */
  readonly network: number;
}
