import type { AccountEventOf, AccountTopic } from '@auth-account/contracts/events';
import { type RegisteredData, type RegisteredEvent, registeredTopic } from '@auth-account/contracts/events/registered';

/** `source` of this service's events. */
const eventSource = '/services/auth';

/** Origin of an event. */
export interface EventOrigin {
  /** UUIDv7, the id of the event, its outbox row and its job. */
  readonly id: string;
  readonly requestId: string;
  /** W3C trace context, if the request had one. */
  readonly traceparent?: string | undefined;
}

export interface AccountEventOrigin extends EventOrigin {
  /** Time of the change that the event reports. */
  readonly at: Date;
}

/**
 * Returns the origin of a new event about a change that a request has made. Each call creates a new id (UUIDv7). If a
 * transaction that writes the event may run again, call this once, before the transaction.
 */
export function eventOrigin(
  { requestId, traceparent }: Pick<EventOrigin, 'requestId' | 'traceparent'>,
  at: Date,
  ids: { entityId(): string },
): AccountEventOrigin {
  return { id: ids.entityId(), requestId, traceparent, at };
}

/** Creates the registration event, a CloudEvents 1.0 envelope (structured mode). */
export function createRegisteredEvent(data: RegisteredData, origin: EventOrigin): RegisteredEvent {
  return envelopeOf(registeredTopic, data, data.registered_at, origin);
}

/** Creates an event about an account after its registration, with the user of `data` as its subject. */
export function createAccountEvent<Topic extends AccountTopic>(
  topic: Topic,
  data: AccountEventOf<Topic>['data'],
  { at, ...origin }: AccountEventOrigin,
): AccountEventOf<Topic> {
  // The compiler cannot see that the data fit the topic's schema.
  return envelopeOf(topic, data, at.toISOString(), origin) as AccountEventOf<Topic>;
}

function envelopeOf<Topic extends string, Data extends { readonly user_id: string }>(
  type: Topic,
  data: Data,
  time: string,
  { id, requestId, traceparent }: EventOrigin,
) {
  return {
    specversion: '1.0' as const,
    id,
    source: eventSource,
    type,
    subject: data.user_id,
    time,
    datacontenttype: 'application/json' as const,
    requestid: requestId,
    ...(traceparent === undefined ? {} : { traceparent }),
    data,
  };
}
