import { type Route, routes } from '@auth-account/contracts';
import { Code } from '@auth-account/contracts/http/challenges';
import { LoginRequest } from '@auth-account/contracts/http/login';
import { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { RegisterRequest, RegisterResponse } from '@auth-account/contracts/http/register';
import { expect, test } from '@jest/globals';
import { compileSchema } from './ajv.ts';
import { readAsMeant } from './read-as-meant.ts';

const { email: Email, password: NewPassword } = RegisterRequest.properties;
const { id: Bytes } = UsedCredential.properties;
const { email: GivenEmail, device_id: Uuid } = LoginRequest.properties;
const { timestamp: Timestamp } = RegisterResponse.properties.data.properties;

test.each([
  [NewPassword, 'x'.repeat(7), false],
  [NewPassword, 'x'.repeat(8), true],
  [NewPassword, 'x'.repeat(128), true],
  [NewPassword, 'x'.repeat(129), false],
  [Uuid, '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90', true],
  [Uuid, 'urn:uuid:7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90', false],
  [Timestamp, '2026-11-20T09:30:00.000Z', true],
  [Timestamp, '2026-11-20T09:30:00Z', false],
  [Timestamp, '2026-11-20T09:30:00.000+01:00', false],
  [Timestamp, '2026-13-20T09:30:00.000Z', false],
])('the schema %j accepts %j: %s', (schema, value, expected) => {
  expect(compileSchema(schema)(value)).toBe(expected);
});

test.each([
  [Code, ' 0481 5162 ', '04815162'],
  [Code, '0481\u20115162', '04815162'],
  [Code, '\u00ad04\u201281\u2212\u201551\u00a0-\u200b62', '04815162'],
  [Code, '０４８１　５１６２', '04815162'],
  [Email, ' \u200bcook@example.com\ufeff\n', 'cook@example.com'],
  [GivenEmail, '\tCook@Example.com ', 'Cook@Example.com'],
  [Email, 'cook@Bücher.example', 'cook@xn--bcher-kva.example'],
  [GivenEmail, 'cook@кухня。рф', 'cook@xn--j1agri5c.xn--p1ai'],
  [Email, 'cook@b%üxample', 'cook@b%üxample'],
  [Bytes, 'AAE=', 'AAE'],
  [Bytes, 'AA==', 'AA'],
  [NewPassword, ' 12 345 678 ', ' 12 345 678 '],
])('a value of the schema %j that is written %j is read as %j', (schema, written, meant) => {
  expect(readAsMeant(schema, written)).toBe(meant);
});

test.each([
  ['cook@1.2.3.4', false],
  [`${'a'.repeat(64)}@example.com`, true],
  [`${'a'.repeat(65)}@example.com`, false],
])('a registration with the email address %s is accepted: %s. A login compares it anyway', (address, expected) => {
  expect(compileSchema(Email)(address)).toBe(expected);
  expect(compileSchema(GivenEmail)(address)).toBe(true);
});

const optionalFields = Object.entries<Route>(routes).flatMap(([name, { body }]) => {
  const { properties = {}, required = [] } = Object(body) as { properties?: object; required?: string[] };
  const optional = Object.keys(properties).filter((field) => !required.includes(field));
  return optional.map((field) => [name, field, body] as const);
});

test.each(optionalFields)('a body of %s may have null for the optional %s', (_, field, body) => {
  const validate = compileSchema(body as never);
  validate(readAsMeant(body as never, { [field]: null }));
  expect((validate.errors ?? []).filter(({ instancePath }) => instancePath !== '')).toEqual([]);
});

test('null for a required field and the members that a schema does not name stay as they are', () => {
  const body = JSON.parse('{"email":null,"further":null,"__proto__":{"device_id":null}}');
  expect(JSON.stringify(readAsMeant(LoginRequest, body))).toBe(JSON.stringify(body));
});
