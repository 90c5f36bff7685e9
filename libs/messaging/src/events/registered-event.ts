import { type RegisteredData, type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import { CloudEvent } from 'cloudevents';

/** `source` of this service's events. */
const eventSource = '/services/auth';

/** Origin of an event. */
export interface EventOrigin {
  /** UUIDv7: id of the outbox row, of the job and of the event. */
  readonly id: string;
  readonly requestId: string;
  /** W3C trace context, if the request had one. */
  readonly traceparent?: string | undefined;
}

/**
 * Creates the registration event, a CloudEvents 1.0 envelope (structured mode). Throws the SDK's `ValidationError` if
 * the result would be invalid.
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
