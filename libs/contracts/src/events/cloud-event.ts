import { Type } from 'typebox';
import { Timestamp, Uuid } from '../http/fields.ts';

/** Creates the schema of an event: a CloudEvents 1.0 JSON envelope, as it is in the outbox, on the queues and in webhooks. */
export function CloudEvent<Topic extends string, Data extends Type.TSchema>(topic: Topic, data: Data) {
  return Type.Object({
    specversion: Type.Literal('1.0'),
    id: Uuid,
    source: Type.String({ minLength: 1 }),
    type: Type.Literal(topic),
    subject: Uuid,
    time: Timestamp,
    datacontenttype: Type.Literal('application/json'),
    requestid: Type.String({ minLength: 1, maxLength: 128 }),
    traceparent: Type.Optional(Type.String({ minLength: 1 })),
    data,
  });
}
