/** A part of the system or of its surroundings. Each has a lane in the picture. */
export type Place = 'phone' | 'api' | 'mongodb' | 'redis' | 'worker' | 'gateway' | 'subscribers';

/** Effect of one step of a request. The page has the words for it, in the reader's language. */
export type Deed =
  /** The request reaches the api. */
  | { readonly kind: 'request'; readonly method: string; readonly route: string }
  | { readonly kind: 'hash' }
  /** Commands of one multi-document transaction, such as `insert users`. */
  | { readonly kind: 'transaction'; readonly commands: readonly string[]; readonly isCommitted: boolean }
  /** Commands outside of a transaction. */
  | { readonly kind: 'commands'; readonly commands: readonly string[] }
  /** Commands to Redis, for limits, the deny list and messages. */
  | { readonly kind: 'hints'; readonly count: number }
  | { readonly kind: 'enqueue' }
  | { readonly kind: 'answer'; readonly status: number }
  | {
      readonly kind: 'deliver';
      readonly by: 'webhook' | 'mail';
      readonly event: string;
      readonly attempt: number;
      readonly hasFailed: boolean;
    }
  | { readonly kind: 'close'; readonly reason: string };

/** One arrow of the sequence. */
export interface Step {
  readonly id: string;
  readonly from: Place;
  readonly to: Place;
  /** Its start, in milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  readonly deed: Deed;
}

/** Report of the services on one request. */
export interface RequestSteps {
  /** X-Request-ID. */
  readonly requestId: string;
  readonly steps: readonly Step[];
}

/** Message to the open pages. */
export type LiveMessage =
  /** All steps of one request that are known so far. They replace those of an earlier message. */
  | ({ readonly type: 'steps' } & RequestSteps)
  /** A mail has arrived in the local mailbox. */
  | { readonly type: 'mail' };
