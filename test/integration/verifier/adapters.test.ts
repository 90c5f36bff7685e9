import { createServer } from 'node:http';
import { join } from 'node:path';
import { AppError } from '@auth-account/errors';
import { fromGrpc, statusDetailsKey } from '@auth-account/errors/grpc';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { callerOf } from '@auth-account/verifier';
import { requireAccessToken as requireInExpress } from '@auth-account/verifier/express';
import { requireAccessToken as requireInFastify } from '@auth-account/verifier/fastify';
import { createGrpcGuard } from '@auth-account/verifier/grpc';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { type Answer, send } from '../../support/http-client.ts';
import { listen } from '../../support/listen.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import {
  audience,
  issuer,
  type OpenedVerifier,
  openVerifierFixture,
  refused,
  someClaims,
  type VerifierFixture,
} from '../../support/verifier/verifier-fixture.ts';

let fixture: VerifierFixture;
let verifier: OpenedVerifier;
/** A revoked token whose revocation the resource server knows. */
let revoked: string;

beforeAll(async () => {
  fixture = await openVerifierFixture();
  verifier = fixture.openVerifier();
  const session = await newSession(fixture.api);
  await logOut(fixture.api, session);
  revoked = session.access_token;
  await verifier.until(revoked, refused);
});
afterAll(() => fixture.close());

/** Requirements of the routes for which a valid token is not enough. */
const requirements = { maxAge: 300, acr: '2' } as const;
const challenge =
  'Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", ' +
  'max_age="300", acr_values="2"';

/** Signs a token with the service's key, for a proof some seconds ago. */
async function steppedUp(acr: string, secondsAgo: number): Promise<string> {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
  const sign = createAccessTokenSigner({ keys, issuer, audience, ttlSeconds: 600 });
  return sign({ ...someClaims, acr, auth_time: Math.floor(Date.now() / 1_000) - secondsAgo });
}

/** Returns the refusal as a client sees it. */
function seen({ status, headers, text }: Answer) {
  const { 'content-type': type, 'www-authenticate': challenge, 'content-language': language } = headers;
  const named = { code: headers['x-error-code'], vary: headers.vary };
  return { status, type: type?.split(';')[0], challenge, language, ...named, body: JSON.parse(text) };
}

async function startExpress() {
  const app = express();
  app.use(requireInExpress(verifier));
  app.get('/mine', (req, res) => {
    res.json({ user_id: callerOf(req).user_id });
  });
  app.delete('/mine', requireInExpress(verifier, requirements), (req, res) => {
    res.json({ acr: callerOf(req).acr });
  });
  const { url: base, close } = await listen(createServer(app));
  return { base, close };
}

async function startFastify() {
  const app = fastify();
  app.addHook('onRequest', requireInFastify(verifier));
  app.get('/mine', async (request) => ({ user_id: callerOf(request).user_id }));
  const grave = { onRequest: requireInFastify(verifier, requirements) };
  app.delete('/mine', grave, async (request) => ({ acr: callerOf(request).acr }));
  return { base: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
}

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
])('a resource server with %s', (_name, start) => {
  let internalService: { readonly base: string; close(): Promise<void> };

  beforeAll(async () => {
    internalService = await start();
  });
  afterAll(() => internalService.close());

  const ask = (headers: Readonly<Record<string, string>>) =>
    send(internalService.base, { method: 'GET', path: '/mine', headers });

  test('a resource server knows whose request it is', async () => {
    const session = await newSession(fixture.api);
    const { status, text } = await ask(bearer(session));
    expect([status, JSON.parse(text)]).toEqual([200, { user_id: session.user_id }]);
  });

  test.each<[string, () => Readonly<Record<string, string>>]>([
    ['no token', () => ({})],
    ['another scheme', () => ({ Authorization: 'Basic YTpi' })],
    ['what is no token', () => ({ Authorization: 'Bearer abc' })],
    ['a revoked token', () => bearer(revoked)],
    ['a revoked token, in Russian', () => ({ ...bearer(revoked), 'Accept-Language': 'ru' })],
  ])('a resource server refuses %s in the very words of the service itself', async (_what, headers) => {
    const own = await fixture.api.findAccount(headers());
    expect(own.status).toBe(401);
    expect(seen(await ask(headers()))).toEqual(seen(own));
  });

  const remove = (token: string) =>
    send(internalService.base, { method: 'DELETE', path: '/mine', headers: bearer(token) });

  // guarantees: resource-server-step-up
  test('a resource server asks the bearer of a login by password to step up, and lets two recent factors pass', async () => {
    const { access_token } = await newSession(fixture.api);
    const refused = await remove(access_token);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, challenge]);
    expect(JSON.parse(refused.text)).toMatchObject({
      error_code: 'ERR-STEP-UP-REQUIRED',
      details: { max_age: 300, acr_values: '2' },
    });
    const { status, text } = await remove(await steppedUp('2', 30));
    expect([status, JSON.parse(text)]).toEqual([200, { acr: '2' }]);
    expect((await ask(bearer(access_token))).status).toBe(200);
  });

  // guarantees: resource-server-step-up
  test('a resource server asks again if the proof is too old, even of a token that it has verified before', async () => {
    const token = await steppedUp('2', 400);
    expect((await ask(bearer(token))).status).toBe(200);
    const { status, headers } = await remove(token);
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('"More recent authentication is required", max_age="300", acr_values="2"'),
    ]);
  });

  test('a resource server refuses a revoked token before it asks for a proof', async () => {
    expect(JSON.parse((await remove(revoked)).text).error_code).toBe('IAD_JWT_ACCESS_INVALID');
  });
});

// guarantees: resource-server-step-up
test('a misspelled requirement ends the start, not the protection', () => {
  const misspelled = { max_age: 300 } as object;
  expect(() => requireInExpress(verifier, misspelled)).toThrow(TypeError);
  expect(() => requireInFastify(verifier, misspelled)).toThrow(TypeError);
  const guard = createGrpcGuard({ verifier, Metadata });
  expect(() => guard.unary(() => undefined, misspelled)).toThrow(TypeError);
  expect(() => guard.stream(() => undefined, misspelled)).toThrow(TypeError);
});

describe('a resource server with gRPC', () => {
  let server: Server;
  let client: Client;
  const text = { requestSerialize: Buffer.from, requestDeserialize: String };
  const method = { requestStream: false, responseSerialize: (value: string) => Buffer.from(value), ...text };
  const answers = { responseDeserialize: String };

  beforeAll(async () => {
    server = new Server();
    const guard = createGrpcGuard({ verifier, Metadata });
    const findOrThrow = (call: ServerUnaryCall<string, string>, callback: sendUnaryData<string>) => {
      throwIfRequested(call.metadata);
      callback(null, callerOf(call).user_id);
    };
    const watchOrThrow = (call: ServerWritableStream<string, string>) => {
      throwIfRequested(call.metadata);
      call.write(callerOf(call).user_id);
      call.end();
    };
    server.addService(
      {
        find: { ...method, ...answers, path: '/Pantry/Find', responseStream: false },
        watch: { ...method, ...answers, path: '/Pantry/Watch', responseStream: true },
        clear: { ...method, ...answers, path: '/Pantry/Clear', responseStream: false },
        drain: { ...method, ...answers, path: '/Pantry/Drain', responseStream: true },
      },
      {
        find: guard.unary(findOrThrow),
        watch: guard.stream(watchOrThrow),
        clear: guard.unary(findOrThrow, requirements),
        drain: guard.stream(watchOrThrow, requirements),
      },
    );
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const bound = (error: Error | null, port: number) => (error ? reject(error) : resolve(port));
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), bound);
    client = new Client(`127.0.0.1:${await promise}`, credentials.createInsecure());
  });
  afterAll(() => {
    client.close();
    server.forceShutdown();
  });

  function throwIfRequested(metadata: Metadata): void {
    if (metadata.get('x-throw').length > 0) throw new AppError('IAD_JWT_ACCESS_INVALID');
  }

  function metadataOf(fields: Readonly<Record<string, string>>): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
    return metadata;
  }

  function find(fields: Readonly<Record<string, string>>, path = '/Pantry/Find'): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const done = (error: ServiceError | null, value?: string) => (error ? reject(error) : resolve(value ?? ''));
    client.makeUnaryRequest(path, method.requestSerialize, String, 'x', metadataOf(fields), {}, done);
    return promise;
  }

  async function watch(fields: Readonly<Record<string, string>>, path = '/Pantry/Watch'): Promise<string> {
    const call = client.makeServerStreamRequest(path, method.requestSerialize, String, 'x', metadataOf(fields));
    const parts: string[] = [];
    for await (const part of call) parts.push(part);
    return parts.join('');
  }

  describe.each([
    ['once', find, '/Pantry/Clear'],
    ['by a stream', watch, '/Pantry/Drain'],
  ])('a call that is answered %s', (_kind, call, grave) => {
    test('a resource server with gRPC knows whose call it is', async () => {
      const session = await newSession(fixture.api);
      expect(await call({ authorization: `Bearer ${session.access_token}` })).toBe(session.user_id);
    });

    test.each([
      ['no token', () => ({})],
      ['a revoked token', () => ({ authorization: `Bearer ${revoked}` })],
    ])('a resource server with gRPC refuses %s with the status and details of the catalogue', async (_what, fields) => {
      const error = await call({ ...fields(), 'x-request-id': 'request-7' }).catch((thrown) => thrown);
      expect(error.code).toBe(16);
      expect(fromGrpc(error).code).toBe('IAD_JWT_ACCESS_INVALID');
    });

    test('a gRPC call that needs two factors ends with UNAUTHENTICATED, unless the token has them', async () => {
      const { access_token } = await newSession(fixture.api);
      const error = await call({ authorization: `Bearer ${access_token}` }, grave).catch((thrown) => thrown);
      expect(error.code).toBe(16);
      const details = { max_age: 300, acr_values: '2' };
      expect(fromGrpc(error)).toMatchObject({ code: 'ERR-STEP-UP-REQUIRED', status: 401, details });
      expect(await call({ authorization: `Bearer ${await steppedUp('2', 30)}` }, grave)).toBe(someClaims.user_id);
    });

    test('a gRPC call whose handler throws ends as @grpc/grpc-js ends it, and as no refusal', async () => {
      const { access_token } = await newSession(fixture.api);
      const error = await call({ authorization: `Bearer ${access_token}`, 'x-throw': '1' }).catch((thrown) => thrown);
      expect([error.code, error.details, error.metadata.get(statusDetailsKey)]).toEqual([2, 'Unknown error', []]);
    });
  });
});
