import { Timestamp, Uuid } from '../http/fields.ts';
import * as Type from '../type.ts';

/** Text of an attribute: at least one character, no control characters (CloudEvents 1.0, "Type System"). */
const attributeText = '^[^\\u0000-\\u001f\\u007f-\\u009f]+$';

/** Together with `id`, identifies an event among all events. It is a URI or a relative reference. */
const Source = Type.String({ minLength: 1, format: 'uri-reference' });

/** X-Request-ID of the request that caused the event. This is our own extension. */
const RequestId = Type.String({ minLength: 1, maxLength: 128 });

/** W3C trace context of that request, from CloudEvents' extension for distributed tracing. */
const Traceparent = Type.String({ pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$' });

const text = (options: { readonly format?: string; readonly pattern?: string } = {}) =>
  Type.String({ minLength: 1, pattern: attributeText, ...options });

/**
 * Any event of CloudEvents 1.0 in its JSON format, with our extensions. The specification sets the four required
 * attributes and the form of the optional ones. It also says that an extension's name has lower-case letters and
 * digits, and that its value is a string, a boolean or a 32-bit integer. An event carries `data` or `data_base64`,
 * never both. The format allows null for an attribute that is unset. Null is refused here, because no sender of the
 * family writes it.
 */
export const CloudEventEnvelope = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: text(),
    source: Source,
    type: text(),
    subject: Type.Optional(text()),
    time: Type.Optional(Type.String({ format: 'date-time' })),
    datacontenttype: Type.Optional(
      text({ pattern: "^[\\w!#$&^.+*'|~-]+/[\\w!#$&^.+*'|~-]+( *;[^\\u0000-\\u001f]+)?$" }),
    ),
    dataschema: Type.Optional(Type.String({ minLength: 1, format: 'uri' })),
    requestid: RequestId,
    traceparent: Type.Optional(Traceparent),
    data: Type.Optional(Type.Unknown()),
    data_base64: Type.Optional(
      Type.String({ pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' }),
    ),
  },
  {
    propertyNames: { pattern: '^(?:[a-z0-9]+|data_base64)$' },
    additionalProperties: Type.Union([
      Type.Boolean(),
      Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
      Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }),
    ]),
    not: { required: ['data', 'data_base64'] },
  },
);
export type CloudEventEnvelope = Type.Static<typeof CloudEventEnvelope>;

/**
 * Creates the schema of one of our events, a CloudEvent. The event has the same shape in the outbox, on the queues and
 * in webhooks.
 */
export function CloudEvent<Topic extends string, Data extends Type.TSchema>(topic: Topic, data: Data) {
  return Type.Object({
    specversion: Type.Literal('1.0'),
    id: Uuid,
    source: Source,
    type: Type.Literal(topic),
    subject: Uuid,
    time: Timestamp,
    datacontenttype: Type.Literal('application/json'),
    requestid: RequestId,
    traceparent: Type.Optional(Traceparent),
    data,
  });
}
