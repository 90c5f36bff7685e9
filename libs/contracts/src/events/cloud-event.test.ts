import { expect, test } from '@jest/globals';
import { Compile } from 'typebox/schema';
import { accountEvents } from './account-events.ts';
import { CloudEventEnvelope } from './cloud-event.ts';
import { RegisteredEvent } from './registered.ts';

const user_id = '0190a3b4-c5d6-7000-8000-000000000001';
const event = {
  specversion: '1.0',
  id: '0190a3b4-c5d6-7000-8000-000000000002',
  source: '/services/auth',
  type: 'service.auth.events.registered',
  subject: user_id,
  time: '2026-01-02T03:04:05.000Z',
  datacontenttype: 'application/json',
  requestid: 'request-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  data: {
    user_id,
    home_group_id: '3f2f1c5e-8a58-4a53-9d0e-0d9a4b7a5c11',
    account_type: 'HOME',
    space_creation_mode: 'CREATE_NEW_HOME',
    is_new_group: true,
    registered_at: '2026-01-02T03:04:05.000Z',
  },
};

/** Returns the event without this attribute. */
function without(name: keyof typeof event): object {
  const { [name]: _, ...rest } = event;
  return rest;
}

const envelope = Compile(CloudEventEnvelope);
const registered = Compile(RegisteredEvent);

test('an event of this service is a CloudEvent', () => {
  expect([envelope.Errors(event), registered.Errors(event)]).toEqual([
    [true, []],
    [true, []],
  ]);
});

/** Examples of the specification and of its JSON format, with the extension that our consumers need. */
test.each([
  ['an event of the four required attributes', { specversion: '1.0', id: 'A234-1234-1234', source: '#a', type: 'x' }],
  ['a source that is an email address', { ...event, source: 'mailto:cncf-wg-serverless@lists.cncf.io' }],
  ['a source that is a URN', { ...event, source: 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66' }],
  ['a time with an offset', { ...event, time: '2018-04-05T17:31:00+02:00' }],
  ['another media type, with a parameter', { ...without('data'), datacontenttype: 'text/xml; charset=utf-8' }],
  ['a schema of the data', { ...event, dataschema: 'https://schemas.example/registered/1' }],
  ['binary data', { ...without('data'), datacontenttype: 'application/x-protobuf', data_base64: 'Q2xvdWQ=' }],
  ['data that are no object', { ...event, data: 'text' }],
  ['extensions of every type', { ...event, comexampleextension1: 'value', flag: true, othervalue: 5 }],
])('%s is accepted in an event', (_case, good) => {
  expect(envelope.Errors({ requestid: 'request-1', ...good })).toEqual([true, []]);
});

/** Faults in any event. */
const faults: readonly (readonly [string, object])[] = [
  ['no specversion', without('specversion')],
  ['another specversion', { ...event, specversion: '0.3' }],
  ['no id', without('id')],
  ['an empty id', { ...event, id: '' }],
  ['an id that is a number', { ...event, id: 7 }],
  ['a control character in its id', { ...event, id: 'a\u0000b' }],
  ['no source', without('source')],
  ['an empty source', { ...event, source: '' }],
  ['a source that is no URI reference', { ...event, source: 'services auth' }],
  ['no type', without('type')],
  ['an empty type', { ...event, type: '' }],
  ['an empty subject', { ...event, subject: '' }],
  ['a time that is none', { ...event, time: 'yesterday' }],
  ['a time without a zone', { ...event, time: '2026-01-02T03:04:05.000' }],
  ['a content type that is no media type', { ...event, datacontenttype: 'json' }],
  ['no request id', without('requestid')],
  ['a request id of 129 characters', { ...event, requestid: 'x'.repeat(129) }],
  ['a trace context that is none', { ...event, traceparent: '00-1-2-01' }],
];

test.each([
  ...faults,
  ['a schema of the data that is a relative reference', { ...event, dataschema: '/registered' }],
  ['data both as JSON and as bytes', { ...event, data_base64: 'Q2xvdWQ=' }],
  ['bytes that are no base64', { ...without('data'), data_base64: 'no base64' }],
  ['an attribute with a capital letter in its name', { ...event, requestId: 'request-1' }],
  ['an attribute with an underscore in its name', { ...event, user_id }],
  ['an extension that is an object', { ...event, extension: {} }],
  ['an extension that is no integer', { ...event, extension: 1.5 }],
  ['an extension beyond 32 bits', { ...event, extension: 2 ** 31 }],
])('an event with %s is no CloudEvent', (_case, bad) => {
  expect(envelope.Check(bad)).toBe(false);
});

test.each([
  ...faults,
  ['no subject', without('subject')],
  ['a subject that is no user', { ...event, subject: 'somebody' }],
  ['no time', without('time')],
  ['no data', without('data')],
  ['data of another topic', { ...event, data: { user_id } }],
  ['another media type', { ...event, datacontenttype: 'text/xml' }],
])('an event with %s is not an event of this service', (_case, bad) => {
  expect(registered.Check(bad)).toBe(false);
});

test('each account event is refused under the type of another', () => {
  for (const schema of Object.values(accountEvents)) expect(Compile(schema).Check(event)).toBe(false);
});
