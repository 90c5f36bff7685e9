import { type RegisteredData, type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import { CloudEvent } from 'cloudevents';

/** `source` of this service's events. */
const eventSource = '/services/auth';

/** The origin of an event. */
export interface EventOrigin {
  /** UUIDv7: the outbox row's, the job's and the event's id. */
  readonly id: string;
  readonly requestId: string;
  /** W3C trace context, if the request had one. */
  readonly traceparent?: string | undefined;
}

/**
 * Makes the registration event, a CloudEvents 1.0 envelope (structured mode). Throws the SDK's `ValidationError` if it
 * would not be one.
 */
export function createRegisteredEvent(
  data: RegisteredData,
  { id, requestId, traceparent }: EventOrigin,
): RegisteredEvent {
  const envelope: RegisteredEvent = {
    specversion: '1.0',
    id,
    source: eventSource,
    type: registeredTopic,
    subject: data.user_id,
    time: data.registered_at,
    datacontenttype: 'application/json',
    requestid: requestId,
    ...(traceparent === undefined ? {} : { traceparent }),
    data,
  };
  new CloudEvent(envelope).validate();
  return envelope;
}
