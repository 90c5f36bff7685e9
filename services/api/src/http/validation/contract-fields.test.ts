import { LoginRequest } from '@auth-account/contracts/http/login';
import { RegisterRequest, RegisterResponse } from '@auth-account/contracts/http/register';
import { expect, test } from '@jest/globals';
import { compileSchema } from './ajv.ts';

const { password: NewPassword } = RegisterRequest.properties;
const { device_id: Uuid } = LoginRequest.properties;
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
