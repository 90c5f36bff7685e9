import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import {
  type Client,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppError } from '../app-error.ts';
import { isThrowableCode, rowOf, throwableCodes } from '../catalogue.ts';
import { locales } from '../locales.ts';
import { sampleError } from '../sample-error.fixture.ts';
import { errorDomain, statusDetailsKey } from './error-domain.ts';
import { fromGrpc } from './from-grpc.ts';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  LocalizedMessageSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from './google/rpc/error_details_pb.ts';
import { StatusSchema } from './google/rpc/status_pb.ts';
import { toGrpc } from './to-grpc.ts';

const text = { serialize: (value: string) => Buffer.from(value), deserialize: (bytes: Buffer) => bytes.toString() };
const service: ServiceDefinition = {
  fail: {
    path: '/test.Failing/Fail',
    requestStream: false,
    responseStream: false,
    requestSerialize: text.serialize,
    requestDeserialize: text.deserialize,
    responseSerialize: text.serialize,
    responseDeserialize: text.deserialize,
  },
};

/** Fails with the error that the request names. Any other request fails in a way that is not ours. */
function fail(call: ServerUnaryCall<string, string>, callback: sendUnaryData<string>): void {
  const metadata = new Metadata();
  if (!isThrowableCode(call.request)) {
    metadata.set(statusDetailsKey, Buffer.from([0xff, 0xff]));
    callback({ code: 16, details: 'not ours', metadata });
    return;
  }
  const { code, details, encoded } = toGrpc(sampleError(call.request), { locale: 'ru', requestId: 'req-1' });
  metadata.set(statusDetailsKey, Buffer.from(encoded));
  callback({ code, details, metadata });
}

describe('errors over a real gRPC connection', () => {
  const server = new Server();
  let client: Client;

  beforeAll(async () => {
    server.addService(service, { fail });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    const FailingClient = makeGenericClientConstructor(service, 'Failing');
    client = new FailingClient(`127.0.0.1:${port}`, credentials.createInsecure());
  });

  afterAll(() => {
    client.close();
    server.forceShutdown();
  });

  function failureOf(request: string): Promise<ServiceError> {
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest('/test.Failing/Fail', text.serialize, text.deserialize, request, (error) =>
        error === null ? reject(new Error('The call did not fail')) : resolve(error),
      );
    });
  }

  test.each(throwableCodes)('%s arrives with its own status and is restored unchanged', async (code) => {
    const failure = await failureOf(code);
    expect(failure).toMatchObject({ code: rowOf(code).grpc.number, details: rowOf(code).meaning });
    const back = fromGrpc(failure);
    expect({ ...back, cause: undefined }).toEqual({ ...sampleError(code), cause: undefined });
    expect(back.cause).toBe(failure);
  });

  test('an answer with unknown details becomes ERR-INTERNAL', async () => {
    expect(fromGrpc(await failureOf('something else'))).toMatchObject({ code: 'ERR-INTERNAL', status: 500 });
  });

  test('a server that is down becomes ERR-DEPENDENCY-UNAVAILABLE', async () => {
    const Away = makeGenericClientConstructor(service, 'Failing');
    const away = new Away('127.0.0.1:1', credentials.createInsecure());
    const failure = await new Promise<ServiceError>((resolve, reject) => {
      away.makeUnaryRequest('/test.Failing/Fail', text.serialize, text.deserialize, 'x', (error) =>
        error === null ? reject(new Error('The call did not fail')) : resolve(error),
      );
    });
    away.close();
    expect(fromGrpc(failure).code).toBe('ERR-DEPENDENCY-UNAVAILABLE');
  });
});

describe('toGrpc', () => {
  test('toGrpc writes the details that AIP-193 names', () => {
    const error = new AppError('ERR-VALIDATION-FAILED', {
      details: [{ loc: ['body', 'email'], msg: 'Field required', type: 'missing' }],
      retryAfterSeconds: 3,
    });
    const { status, encoded } = toGrpc(error, { locale: 'ru', requestId: 'req-1' });
    expect(fromBinary(StatusSchema, encoded)).toEqual(status);
    const [info, localized, badRequest, retry, request] = status.details;
    expect(status.details).toHaveLength(5);
    expect(unpack(info, ErrorInfoSchema)).toMatchObject({
      reason: 'ERR-VALIDATION-FAILED',
      domain: 'auth.food-storage',
      metadata: {
        http_status: '422',
        reaction: 'FIX_INPUT',
        retry: 'never',
        action: locales.ru['ERR-VALIDATION-FAILED'].action,
      },
    });
    expect(unpack(localized, LocalizedMessageSchema)).toMatchObject({
      locale: 'ru',
      message: locales.ru['ERR-VALIDATION-FAILED'].message,
    });
    expect(unpack(badRequest, BadRequestSchema)?.fieldViolations).toMatchObject([
      { field: 'body.email', description: 'Field required', reason: 'MISSING' },
    ]);
    expect(unpack(retry, RetryInfoSchema)?.retryDelay).toMatchObject({ seconds: 3n });
    expect(unpack(request, RequestInfoSchema)).toMatchObject({ requestId: 'req-1' });
  });

  test('the reason says how a session has ended, over gRPC and back', () => {
    const error = new AppError('IAD_JWT_REFRESH_STOLEN', { details: { reason: 'replaced' } });
    const { status, encoded } = toGrpc(error, { locale: 'ru' });
    const { message, action } = locales.ru.IAD_JWT_REFRESH_STOLEN.variants.reason.replaced;
    expect(unpack(status.details[0], ErrorInfoSchema)?.metadata).toMatchObject({ action });
    expect(unpack(status.details[1], LocalizedMessageSchema)).toMatchObject({ message });
    const failure = { code: 16, metadata: { get: () => [encoded] } };
    expect(fromGrpc(failure)).toMatchObject({ code: 'IAD_JWT_REFRESH_STOLEN', details: { reason: 'replaced' } });
  });

  test('toGrpc adds no details that the error does not have', () => {
    const { status } = toGrpc(new AppError('ERR-INTERNAL'), { locale: 'en' });
    expect(status.details.map(({ typeUrl }) => typeUrl)).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
      'type.googleapis.com/google.rpc.LocalizedMessage',
    ]);
    const metadata = unpack(status.details[0], ErrorInfoSchema)?.metadata ?? {};
    expect(Object.keys(metadata).sort()).toEqual(['action', 'http_status', 'reaction', 'retry']);
  });

  test('toGrpc names the canonical code, and nothing that is unknown', () => {
    const details = { provided_token: 'x' };
    const options = { details, status: 410, canonical: 'IAD_GROUP_INVITE_EXPIRED' } as const;
    const { status } = toGrpc(new AppError('ERR-INVITE-TOKEN-INVALID', options), { locale: 'en' });
    expect(status.details.map(({ typeUrl }) => typeUrl)).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
      'type.googleapis.com/google.rpc.LocalizedMessage',
      'type.googleapis.com/google.protobuf.Struct',
    ]);
    expect(unpack(status.details[0], ErrorInfoSchema)?.metadata).toMatchObject({
      http_status: '410',
      canonical_code: 'IAD_GROUP_INVITE_EXPIRED',
    });
  });
});

describe('fromGrpc', () => {
  const { status } = toGrpc(new AppError('IAD_JWT_REFRESH_STOLEN'), { locale: 'en' });
  const received = (bytes: string | Uint8Array) => ({ code: 16, metadata: { get: () => [bytes] } });

  test('fromGrpc restores the other status, the canonical code and the pause', () => {
    const options = { status: 410, canonical: 'IAD_GROUP_INVITE_EXPIRED', retryAfterSeconds: 9 } as const;
    const error = new AppError('ERR-INVITE-TOKEN-INVALID', { details: { provided_token: 'x' }, ...options });
    expect(fromGrpc(received(toGrpc(error, { locale: 'en' }).encoded))).toMatchObject(options);
  });

  test('fromGrpc needs no pause to restore the rest', () => {
    const info = { reason: 'ERR-OVERLOADED', domain: errorDomain, metadata: { http_status: '503' } };
    const details = [
      anyPack(ErrorInfoSchema, create(ErrorInfoSchema, info)),
      anyPack(RetryInfoSchema, create(RetryInfoSchema, {})),
    ];
    const bytes = toBinary(StatusSchema, create(StatusSchema, { code: 8, details }));
    expect(fromGrpc(received(bytes))).toMatchObject({ code: 'ERR-OVERLOADED', status: 503, retryAfterSeconds: 1 });
  });

  test('fromGrpc does not trust a known reason of another domain', () => {
    const info = { reason: 'IAD_JWT_REFRESH_STOLEN', domain: 'example.com' };
    const details = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, info))];
    const bytes = toBinary(StatusSchema, create(StatusSchema, { code: 16, details }));
    expect(fromGrpc(received(bytes)).code).toBe('ERR-INTERNAL');
  });

  test('fromGrpc survives a detail that is cut off, and a value that is text', () => {
    const broken = status.details.map((detail) => ({ ...detail, value: detail.value.slice(0, 3) }));
    const bytes = toBinary(StatusSchema, { ...status, details: broken });
    expect([bytes, 'text'].map((value) => fromGrpc(received(value)).code)).toEqual(['ERR-INTERNAL', 'ERR-INTERNAL']);
  });

  test('fromGrpc restores fields of details that are written with dots and tildes', () => {
    const loc = ['body', 'a.b', '~1', '~0.~', ''];
    const item = { loc, msg: 'm', type: 'missing' } as const;
    const { encoded } = toGrpc(new AppError('ERR-VALIDATION-FAILED', { details: [item] }), { locale: 'en' });
    expect(fromGrpc(received(encoded)).details).toEqual([item]);
  });

  test('fromGrpc leaves out a newer library’s reason, and restores the error all the same', () => {
    const details = { reason: 'of_tomorrow' } as never;
    const { encoded } = toGrpc(new AppError('IAD_JWT_REFRESH_STOLEN', { details }), { locale: 'en' });
    const back = fromGrpc(received(encoded));
    expect([back.code, back.details]).toEqual(['IAD_JWT_REFRESH_STOLEN', {}]);
  });

  test('fromGrpc leaves out a detail that is present but undefined', () => {
    const details = { available: 2, unit: undefined } as never;
    const { encoded } = toGrpc(new AppError('INV_STOCK_INSUFFICIENT_OFFICE', { details }), { locale: 'en' });
    expect(fromGrpc(received(encoded)).details).toEqual({ available: 2 });
  });

  test.each([
    [undefined, 'ERR-INTERNAL'],
    [4, 'ERR-DEPENDENCY-UNAVAILABLE'],
    [14, 'ERR-DEPENDENCY-UNAVAILABLE'],
    [8, 'ERR-OVERLOADED'],
    [16, 'ERR-INTERNAL'],
  ])('fromGrpc maps a bare status %p to %s', (code, expected) => {
    const failure = { code };
    expect(fromGrpc(failure).code).toBe(expected);
    expect(fromGrpc(failure).cause).toBe(failure);
    expect(fromGrpc({ code, metadata: { get: () => [] } }).code).toBe(expected);
  });
});

function unpack<Schema extends Parameters<typeof anyUnpack>[1]>(
  detail: Parameters<typeof anyUnpack>[0] | undefined,
  schema: Schema,
) {
  return detail === undefined ? undefined : anyUnpack(detail, schema);
}
