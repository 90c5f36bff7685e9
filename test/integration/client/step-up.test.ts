import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuthError } from '@auth-account/client';
import { createVerifier, type Verifier } from '@auth-account/verifier';
import { requireAccessToken } from '@auth-account/verifier/express';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { password } from '../../support/api/accounts.ts';
import { type ClientFixture, noStream, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { audience, issuer } from '../../support/verifier/verifier-fixture.ts';

let fixture: ClientFixture;
let verifier: Verifier;
let internalService: Server;
let service: string;

beforeAll(async () => {
  fixture = await openClientFixture();
  verifier = createVerifier({ issuer, audience, reachedAt: fixture.api.base, revocations: 'none' });
  const app = express();
  const done = (_req: express.Request, res: express.Response) => void res.json({ done: true });
  app.get('/pantry', requireAccessToken(verifier), done);
  app.post('/pantry/clear', requireAccessToken(verifier, { maxAge: 300, acr: '2' }), done);
  app.delete('/pantry', requireAccessToken(verifier, { maxAge: 300 }), done);
  internalService = app.listen(0, '127.0.0.1');
  await once(internalService, 'listening');
  service = `http://127.0.0.1:${(internalService.address() as AddressInfo).port}`;
});
afterAll(async () => {
  internalService.close();
  verifier.close();
  await fixture.close();
});

const signedIn = () => fixture.signedIn({ ...noStream, services: [service] });

async function clear(app: TestApp, body?: RequestInit['body']): Promise<unknown> {
  const init = { method: 'POST', body: body ?? '{}', duplex: 'half' } as const;
  return app.client.fetch(`${service}/pantry/clear`, init).catch((error: unknown) => error);
}

const expected = {
  code: 'ERR-STEP-UP-REQUIRED',
  status: 401,
  details: { max_age: 300, acr_values: '2' },
  reaction: { type: 'STEP_UP' },
  retry: 'never',
};

// guarantees: resource-server-step-up
test.each([
  ['a body that can be sent again', () => '{}'],
  ['a stream', () => new Blob(['{}']).stream()],
])('a service that wants two factors reaches the app once, without a refresh, with %s', async (_what, body) => {
  const app = await signedIn();
  const error = await clear(app, body());
  expect(error).toBeInstanceOf(AuthError);
  expect(error).toMatchObject(expected);
  expect([app.network.to('/pantry').length, app.network.to('/refresh').length]).toEqual([1, 0]);
  expect(app.client.state().status).toBe('signed_in');
  expect((await app.client.fetch(`${service}/pantry`)).status).toBe(200);
});

// guarantees: resource-server-step-up
test('a service that wants two factors reaches the app once, also if the token had to be renewed first', async () => {
  const app = await signedIn();
  app.clock.monotonic += 3_600_000;
  expect(await clear(app)).toMatchObject(expected);
  expect([app.network.to('/pantry').length, app.network.to('/refresh').length]).toEqual([1, 1]);
});

test('after a step-up for the session the same request passes, and so do the next ones', async () => {
  const app = await signedIn();
  const { client } = app;
  const state = client.state();
  const _id = state.status === 'signed_in' ? state.session.session_id : '';
  // The last proof was an hour ago. The app's next token says so.
  await fixture.api.collections.sessions.updateOne({ _id }, { $set: { 'auth.at': new Date(Date.now() - 3_600_000) } });
  app.clock.monotonic += 3_600_000;
  const remove = () => client.fetch(`${service}/pantry`, { method: 'DELETE' });
  await expect(remove()).rejects.toMatchObject({ ...expected, details: { max_age: 300 } });
  const { challenge_id, methods } = await client.stepUp.challenge({ purpose: 'session' });
  expect(methods).toContain('password');
  await client.stepUp.confirm({ challenge_id, method: 'password', password });
  expect([(await remove()).status, (await remove()).status]).toEqual([200, 200]);
});
