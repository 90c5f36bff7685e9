import type { Time } from './answers.ts';

/** `GET /api/system` */
export interface SystemView {
  readonly read_at: Time;
  readonly checks: readonly {
    readonly check: string;
    readonly status: 'ok' | 'warning' | 'failed';
    readonly detail: string;
    readonly fix: string | null;
  }[];
  readonly processes: readonly ProcessView[];
  readonly outbox: { readonly waiting: number | null; readonly oldest_seconds: number | null };
  readonly queues: readonly {
    readonly name: string;
    readonly waiting: number;
    readonly active: number;
    readonly delayed: number;
    readonly failed: number;
  }[];
  readonly subscribers: readonly SubscriberView[];
  readonly deny_list: { readonly is_complete: boolean | null; readonly entries: number | null };
  readonly streams: readonly { readonly process: string; readonly open: number }[];
  /** Requests that limits refused in the last hour, or since each process started without Prometheus. */
  readonly limits: {
    readonly span: 'hour' | 'since_start';
    readonly rules: readonly { readonly rule: string; readonly refused: number }[];
  };
  readonly keys: readonly {
    readonly kind: 'access' | 'refresh' | 'server';
    readonly kid: string;
    readonly signs: readonly string[];
    readonly accepts: readonly string[];
  }[];
  /** Sources that did not answer, with the reason. */
  readonly gaps: readonly string[];
}
export interface ProcessView {
  readonly process: string;
  readonly version: string | null;
  readonly generation: number | null;
  readonly clock_ahead_ms: number;
  readonly settings: Readonly<Record<string, string | number>>;
}
export interface SubscriberView {
  readonly name: string;
  readonly configured: boolean;
  readonly suspended_at: Time | null;
  readonly suspended_by: string | null;
  readonly dead_letters: number;
}

/** `GET /api/dead-letters?after=&subscriber=`, oldest first */
export interface DeadLetterView {
  readonly event_id: string;
  readonly subscriber: string;
  readonly topic: string;
  readonly attempts: number;
  readonly last_error: string;
  readonly given_up_at: Time;
}
