import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RouteName, routes } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import { createLogger, createMetrics } from '@auth-account/telemetry';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { createApp } from '../app.ts';
import type { Handlers } from './mount-routes.ts';
import { createRequestDuration } from './request-duration.ts';
import { sendJson } from './send-json.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** No setting that switches operations on. */
const switches = {
  EMAIL_CODE_LOGIN: false,
  WEBAUTHN_RELATED_ORIGINS: [],
  APPLE_APP_IDS: [],
  ANDROID_APPS: [],
  IDENTITY_PROVIDERS: [],
};

const good = {
  status: 'success',
  data: {
    user_id: '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10',
    home_group_id: '1c5c1f4e-3b52-4a0a-8f6e-1d2a9b7c3e44',
    account_type: 'HOME',
    timestamp: '2026-11-20T09:30:00.000Z',
  },
};

/** Starts an api whose registration always gives this answer, and records its log and its warnings. */
async function register(handler: RequestHandler, { validateResponses = true } = {}) {
  const logger = createLogger({ service: 'api', level: 'silent' });
  const logged = jest.spyOn(logger, 'error');
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const requestDuration = createRequestDuration(createMetrics({ service: 'api' }).registry);
  const unused: RequestHandler = () => undefined;
  const names = Object.keys(routes) as RouteName[];
  const others = Object.fromEntries(names.map((name) => [name, unused])) as Handlers;
  const handlers: Handlers = { ...others, registerAccount: handler };
  const app = createApp({
    issuer: 'https://auth.local',
    requestIdMode: 'require',
    trustedProxyHops: 0,
    allowedOrigins: [],
    logger,
    audit: () => undefined,
    onMissingKey: () => undefined,
    requestDuration,
    verifyAccessToken: () => Promise.reject(new AppError('IAD_JWT_ACCESS_INVALID')),
    assertNotDenied: () => Promise.resolve(),
    verifyDeviceProof: () => 'form',
    findInternalService: () => undefined,
    switches,
    handlers,
    validateResponses,
  });
  const server = createServer(app);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'x', Connection: 'close' };
  const body = JSON.stringify({
    email: 'cook@example.com',
    password: 'correct horse',
    space_creation_mode: 'CREATE_NEW_HOME',
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/auth/register`;
  const answer = await fetch(url, { method: 'POST', headers, body });
  const warnings = warned.mock.calls.map(([warning]) => String(warning));
  warned.mockRestore();
  return { status: answer.status, json: await answer.json(), warnings, logged: logged.mock.calls.length };
}

const answering =
  (status: number, body: unknown): RequestHandler =>
  (_req, res) =>
    sendJson(res, status, body);

const throwing =
  (error: Error): RequestHandler =>
  () => {
    throw error;
  };

const internal = {
  error_code: 'ERR-INTERNAL',
  message: expect.any(String),
  details: { action: expect.any(String) },
};

describe('validated answers', () => {
  test('an answer that fits the contract is sent unchanged', async () => {
    const answer = await register(answering(201, good));
    expect(answer).toEqual({ status: 201, json: good, warnings: [], logged: 0 });
  });

  test('an error that the operation declares is sent as it is', async () => {
    const details = { rejected_email: 'cook@example.com' };
    const { status, json } = await register(throwing(new AppError('ERR-EMAIL-ALREADY-EXISTS', { details })));
    expect([status, json]).toMatchObject([409, { error_code: 'ERR-EMAIL-ALREADY-EXISTS', details }]);
  });

  test.each<[string, RequestHandler, RegExp]>([
    ['a success without a field', answering(201, { status: 'success', data: {} }), /must have required property/],
    [
      'a success with a field too many',
      answering(201, { ...good, data: { ...good.data, password_hash: 'x' } }),
      /must NOT have additional properties/,
    ],
    ['a value of the wrong form', answering(201, { ...good, data: { ...good.data, user_id: 'x' } }), /uuid/],
    ['a date that JSON turns into another text', answering(201, { ...good, data: new Date() }), /must be object/],
    ['another success status', answering(200, good), /declares no undefined/],
    [
      'a code that the operation does not declare',
      throwing(new AppError('ERR-INVALID-CREDENTIALS')),
      /declares no ERR/,
    ],
    [
      'a status that the code does not have',
      answering(400, { error_code: 'ERR-OVERLOADED', message: 'x', details: { action: 'x' } }),
      /has no status 400/,
    ],
    [
      'an error with a field too many',
      answering(503, { error_code: 'ERR-OVERLOADED', message: 'x', details: { action: 'x' }, stack: 'x' }),
      /must NOT have additional properties/,
    ],
    [
      'details that the code does not have',
      answering(503, { error_code: 'ERR-OVERLOADED', message: 'x', details: { action: 'x', host: 'db-1' } }),
      /must NOT have additional properties/,
    ],
  ])('%s becomes a 500 that is logged', async (_, handler, reason) => {
    const { status, json, warnings, logged } = await register(handler);
    expect(status).toBe(500);
    expect(json).toEqual(internal);
    expect(warnings).toEqual([expect.stringMatching(reason)]);
    expect(logged).toBe(1);
  });
});

test('any answer is sent if answers are not validated', async () => {
  const { status, json } = await register(answering(201, { anything: true }), { validateResponses: false });
  expect([status, json]).toEqual([201, { anything: true }]);
});
