import type { AuthEvent } from '@auth-account/contracts/events';

/**
 * Outcome of one attempt to deliver an event to a subscriber. `given_up` is the last attempt, followed by the dead
 * letter. `expired` means that the event had become useless and was dropped.
 */
export type AttemptOutcome = 'delivered' | 'failed' | 'given_up' | 'expired';

/**
 * One attempt to deliver an event to a subscriber, for the support desk. It holds no secret and nothing from the body
 * of the answer.
 */
export interface DeliveryAttempt {
  readonly subscriber: string;
  /** Time at which the attempt ended. */
  readonly at: Date;
  readonly outcome: AttemptOutcome;
  /** HTTP status, if a webhook answered. */
  readonly status?: number;
  readonly error?: string;
  /** Missing if the subscriber consumes its jobs itself. */
  readonly duration_ms?: number;
}

/** Collection `outbox`: one row per event, written in the transaction that causes the event. */
export interface OutboxDocument {
  /** The event's id, UUIDv7. */
  readonly _id: string;
  readonly topic: string;
  readonly event: AuthEvent;
  /**
   * `pending`: some subscriber has neither the event nor a dead letter of it. `dead`: no subscriber waits, but there is
   * a dead letter, and the row stays until that letter is gone. `delivered`: no subscriber waits and there is no dead
   * letter.
   */
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly created_at: Date;
  /**
   * Time until which the relay that claimed the row owns it. Relays also leave a new row alone until then, because it
   * is published right after its commit.
   */
  readonly locked_until: Date;
  /** Set while some subscribers lack the event because their queues are full. */
  readonly held?: HeldRow;
  /** Id of the claim that owns the row. */
  readonly lease?: string;
  /** Number of claims by relays. */
  readonly attempts: number;
  readonly last_error?: string;
  /** Subscriber → time of delivery. */
  readonly deliveries: Readonly<Record<string, Date>>;
  /** Subscriber → time of its dead letter. */
  readonly dead?: Readonly<Record<string, Date>>;
  /**
   * Subscriber → time since which it no longer needs the event, because an operator decided so or the event expired.
   */
  readonly discarded?: Readonly<Record<string, Date>>;
  /** Subscriber → time of the last replay by an operator. */
  readonly replays?: Readonly<Record<string, Date>>;
  /** Set by a replay. The row waits only for these subscribers, not for others, such as subscribers added later. */
  readonly only_for?: readonly string[];
  /** Subscriber → time of the first failed attempt since the last replay. */
  readonly first_failures?: Readonly<Record<string, Date>>;
  /** Latest attempts, at most {@link maximumAttemptsKept}, oldest first. */
  readonly attempt_log?: readonly DeliveryAttempt[];
  /** Time at which the state became `delivered` and the row's retention began. */
  readonly delivered_at?: Date;
}

/** Mark of an outbox row that waits for capacity in queues, and not for its next claim. */
export interface HeldRow {
  /** Names of the queues that are full. */
  readonly for: readonly string[];
  /** Time at which the row is claimed even without capacity, because the configured subscribers may have changed. */
  readonly until: Date;
}

/** Number of attempts that an outbox row keeps. */
export const maximumAttemptsKept = 30;

/** A subscriber that is configured now: its name, and its topics if it does not take all. */
export type EventSubscriber = string | { readonly name: string; readonly topics: readonly string[] };

/**
 * Collection `dead_letters`: one per event and subscriber that did not take the event. A dead letter stays until it is
 * replayed or discarded.
 */
export interface DeadLetterDocument {
  /** `<subscriber>:<event id>`. */
  readonly _id: string;
  readonly event_id: string;
  readonly subscriber: string;
  readonly topic: string;
  readonly event: AuthEvent;
  readonly last_error: string;
  /** Number of attempts since the last replay. */
  readonly attempts: number;
  readonly first_attempt_at: Date;
  readonly last_attempt_at: Date;
  readonly created_at: Date;
  /** Latest attempts for this subscriber, oldest first. */
  readonly attempt_log: readonly DeliveryAttempt[];
}

/** Collection `subscribers`: the state of a subscriber, shared by all workers and the operator. */
export interface SubscriberDocument {
  /** Name of the subscriber. */
  readonly _id: string;
  /** Time since which the subscriber is in the workers' configuration; missing if it is not. */
  readonly configured_at?: Date;
  /** Topics that the subscriber takes; missing if it takes all. */
  readonly topics?: readonly string[];
  /** Set while the subscriber's deliveries are suspended because it answered 410 Gone. */
  readonly parked_at?: Date;
  /** Id of the event whose delivery the subscriber answered with 410. */
  readonly parked_by_event?: string;
  /**
   * Time at which an operator last resumed the subscriber's deliveries. The age of earlier events is counted from then.
   */
  readonly resumed_at?: Date;
  /** Time at which an operator last ordered to try the waiting events without delay. */
  readonly retried_at?: Date;
}
