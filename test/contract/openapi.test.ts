import { readFile } from 'node:fs/promises';
import { type Route, type RouteName, routes, violationTypes } from '@auth-account/contracts';
import { Locale } from '@auth-account/contracts/events';
import { liveFields, openApiPath } from '@auth-account/contracts/openapi';
import { decideWriteOff, type ErrorCode, errorCodes, locales, rowOf, validationTypes } from '@auth-account/errors';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { decodeJwt } from 'jose';
import { registerAccount } from '../support/api/accounts.ts';
import { type GoodRequest, goodRequests, sendTo } from '../support/api/good-requests.ts';
import { insertInvite } from '../support/api/groups.ts';
import { openApiChecker } from '../support/api/openapi-checker.ts';
import { proveByCode, provePerson } from '../support/api/providers.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { type Answer, answerTo, begin } from '../support/http-client.ts';

type Fields = Readonly<Record<string, unknown>>;

const checkedIn = JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
const checker = openApiChecker(checkedIn);
const operations = Object.entries(checkedIn.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, Response>;
  readonly requestBody?: Response;
}
interface CodeSchema {
  readonly properties?: {
    readonly error_code?: { readonly const?: string };
    readonly details?: { readonly type?: string };
  };
}
interface Content {
  readonly schema: Fields;
  readonly example?: unknown;
  readonly examples?: Record<string, { readonly value: object; readonly description?: string }>;
}
interface Response {
  /** Missing if the answer has no body. */
  readonly content?: { 'application/json': Content; 'application/secevent+jwt'?: Content };
}

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ CODE_LIMIT_PER_ACCOUNT: '100' });
});
afterAll(() => api.close());

describe('the OpenAPI document', () => {
  test('the OpenAPI document is served as it is checked in, and may be cached', async () => {
    const answer = await api.send({ method: 'GET', path: '/openapi.json' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expect(answer.json).toEqual(checkedIn);
  });

  test('the OpenAPI document fits the official schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(checkedIn))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('the schemas of the OpenAPI document are JSON Schema 2020-12, without keywords of our own that decide', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, validateSchema: true });
    addFormats.default(ajv, ['uuid', 'date-time']);
    ajv.addKeyword({ keyword: 'components', schemaType: 'object' });
    ajv.addVocabulary(['discriminator', 'x-reaction', 'x-retry']);
    const { schemas } = checkedIn.components;
    ajv.addSchema({ $id: 'https://api.test/', components: { schemas } });
    for (const name of Object.keys(schemas)) {
      expect(typeof ajv.compile({ $ref: `https://api.test/#/components/schemas/${name}` })).toBe('function');
    }
    expect(JSON.stringify(schemas)).not.toContain('normalizedLength');
  });

  // guarantees: openapi-matches
  test('the OpenAPI document has every route of the table and nothing else', () => {
    const described = operations.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);
    const routed = Object.values(routes).map(
      ({ method, path, operationId }) => `${method} ${openApiPath(path)} ${operationId}`,
    );
    expect(described.sort()).toEqual(routed.sort());
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test('the contracts have the violation words of the error catalogue', () => {
    expect([...violationTypes]).toEqual([...validationTypes]);
  });

  test('accounts can choose the languages that the error catalogue has', () => {
    expect(Object.keys(locales)).toEqual(Locale.enum);
  });

  test('the OpenAPI document has the types of groups by which a write-off of stock is decided', () => {
    const types: ('HOME' | 'OFFICE')[] = checkedIn.components.schemas.AccountType.enum;
    const balances = types.map((accountType) => decideWriteOff({ accountType, available: 1, requested: 1 }).balance);
    expect(balances).toEqual([0, 0]);
  });

  test('every body has a named schema, so that generated clients invent no names', () => {
    const bodies = operations.flatMap(({ responses, requestBody }) => [...Object.values(responses), requestBody ?? []]);
    const schemas = bodies
      .flat()
      .flatMap(({ content }) => (content === undefined ? [] : [content['application/json'].schema]));
    expect(schemas.filter((schema) => Object.keys(schema).join() !== '$ref')).toEqual([]);
  });

  test('a discriminator selects the body of an error by its code, if an answer has several', () => {
    const { discriminator, oneOf } = checkedIn.components.schemas.LogInForbiddenErrorBody;
    expect(discriminator.propertyName).toBe('error_code');
    expect(Object.keys(discriminator.mapping)).toEqual([
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-EMAIL-NOT-VERIFIED',
      'ERR-SECOND-FACTOR-REQUIRED',
    ]);
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }: { $ref: string }) => $ref));
  });

  test('the OpenAPI document demands X-Request-ID as the api does, and only that header has a value filled in', () => {
    const parameters = Object.entries(checkedIn.components.parameters as Record<string, Fields>);
    const demanded = parameters.map(([name, { required, example }]) => [name, required, example !== undefined]);
    const optional = ['Accept-Language', 'Idempotency-Key', 'DPoP', 'X-Device-Secret'];
    expect(demanded).toEqual([['X-Request-ID', true, true], ...optional.map((name) => [name, false, false])]);
  });

  test('every schema, header and parameter of the components is used', () => {
    const text = JSON.stringify(checkedIn);
    const { securitySchemes: _, ...components } = checkedIn.components as Record<string, object>;
    const unused = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).filter((name) => !text.includes(`"#/components/${kind}/${name}"`)),
    );
    expect(unused).toEqual([]);
  });

  test('every error code has its reaction and retry, in the catalogue and at each operation', () => {
    const rows = Object.fromEntries(
      errorCodes.map((code) => {
        const { http, reaction, retry } = rowOf(code);
        return [code, { http, reaction, retry }];
      }),
    );
    expect(checkedIn['x-error-catalogue']).toEqual(rows);
    const bodies = Object.values(checkedIn.components.schemas as Record<string, CodeSchema>).filter(
      ({ properties }) => properties?.error_code?.const !== undefined && properties.details?.type !== 'array',
    );
    expect(bodies.length).toBeGreaterThan(20);
    for (const { properties, ...extensions } of bodies) {
      const { reaction, retry } = rowOf(properties?.error_code?.const as ErrorCode);
      expect(extensions).toMatchObject({ 'x-reaction': reaction, 'x-retry': retry });
    }
  });

  test('an error of an operation has the statuses that it answers there', () => {
    const statuses = Object.keys(checkedIn.paths['/api/v1/invites/{token}'].get.responses);
    expect(statuses).toContain('404');
    expect(statuses).not.toContain('410');
  });
});

describe('every example', () => {
  const answers = operations.flatMap(({ path, method, responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const { example, examples = {} } = response.content?.['application/json'] ?? {};
      const own = example === undefined ? [] : [['example', example] as const];
      const named = Object.entries(examples).map(([name, { value }]) => [name, value] as const);
      return [...own, ...named].map(([name, body]) => ({ path, method, status, name, body }));
    }),
  );

  test.each(answers)(
    'the example of an answer fits its schema: $method $path $status $name',
    ({ path, method, status, body }) => {
      expect(checker.bodyFault({ path, method, status: Number(status) }, body)).toBeUndefined();
    },
  );
});

/** Creates what the example needs to succeed, and fills in the live fields. */
async function requestOf(name: RouteName, value: Fields): Promise<GoodRequest> {
  await api.collections.users.deleteMany({ email: String(value.email) });
  if (name === 'logIn' || name === 'restoreAccount') await registerAccount(api, String(value.email));
  if (value.space_creation_mode === 'JOIN_EXISTING') {
    const { home_group_id } = await registerAccount(api);
    await insertInvite(api, home_group_id, { _id: String(value.invite_token) });
  }
  const good = await goodRequests[name](api);
  const known = Object.keys(value).filter((field) => field in liveFields);
  const proof = { ...good.body, ...(await otherProof(name, value, good)) };
  const own = Object.fromEntries(known.map((field) => [field, proof[field]]));
  return { ...good, body: { ...value, ...own } };
}

/** Returns the live fields of an example that proves something else than the good request. */
async function otherProof(name: RouteName, value: Fields, good: GoodRequest): Promise<Fields> {
  if (name === 'linkByProof' && 'code' in value) return proveByCode(api, String(good.body?.link_challenge_id));
  if (name !== 'logInByProvider' || 'space_creation_mode' in value) return {};
  await sendTo(name, api, good);
  return provePerson(api, decodeJwt(String(good.body?.id_token)));
}

/** Returns the headers that the page at `/docs` fills in. */
function filledIn(name: RouteName): Record<string, string> {
  const all = Object.entries(checkedIn.components.parameters as Record<string, { readonly example?: string }>);
  const taken: readonly string[] = routes[name].headers;
  return Object.fromEntries(
    all.flatMap(([header, { example }]) => (taken.includes(header) && example ? [[header, example]] : [])),
  );
}

describe('the request examples', () => {
  const requests = (Object.entries(routes) as [RouteName, Route][]).flatMap(
    ([name, { operationId, requests: examples = {} }]) =>
      Object.entries(examples).map(([example, { value }]) => ({ operationId, example, name, value })),
  );

  test('each operation with a body has a request example, whose description names the fields to fill in', () => {
    const bodies = operations.flatMap(({ operationId, requestBody }) =>
      Object.entries(requestBody?.content ?? {}).map(([type, content]) => ({ operationId, type, ...content })),
    );
    const bare = bodies.filter(({ example, examples = {} }) =>
      [example, ...Object.keys(examples)].every((each) => each === undefined),
    );
    expect(bare.map(({ operationId, type }) => `${operationId} ${type}`)).toEqual([]);
    const unsaid = bodies.flatMap(({ operationId, examples = {} }) =>
      Object.values(examples).flatMap(({ value, description = '' }) =>
        Object.keys(value)
          .filter((field) => field in liveFields !== description.includes(`\`${field}\``))
          .map((field) => `${operationId} ${field}`),
      ),
    );
    expect(unsaid).toEqual([]);
  });

  test.each(requests)(
    'the request example $example of $operationId succeeds when it is sent',
    async ({ name, value }) => {
      const { path, method, success } = routes[name];
      const request = await requestOf(name, value);
      const answer = await sendTo(name, api, { ...request, headers: { ...filledIn(name), ...request.headers } });
      expect([success.status, ...('created' in success ? [201] : [])]).toContain(answer.status);
      expect(checker.answerFault({ path: openApiPath(path), method }, answer)).toBeUndefined();
    },
  );

  test('listPublicKeys answers as the OpenAPI document says', async () => {
    const path = '/.well-known/jwks.json';
    expect(checker.answerFault({ path, method: 'get' }, await send('GET', path))).toBeUndefined();
  });

  test('listPublicKeys answers HEAD as GET, and POST with 405', async () => {
    const path = '/.well-known/jwks.json';
    const head = await answerTo(begin(api.base, { method: 'HEAD', path }).end());
    expect([head.status, head.headers['content-type']]).toEqual([200, 'application/json']);
    const post = await send('POST', path);
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  const send = (method: string, path: string) => api.send({ method, path });
});

interface BodySchema {
  readonly required?: readonly string[];
  readonly properties?: Record<string, { readonly maxLength?: number }>;
}

describe('the document is as strict as the api', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'https://api.test/', components: checkedIn.components });
  const withBody = (Object.entries(routes) as [RouteName, Route][]).flatMap(([name, { operationId, body }]) =>
    body === undefined ? [] : [[operationId, name] as const],
  );

  /** Returns true for a refused body; the form of a code depends on the method. */
  const isInvalid = ({ status, json }: Answer) =>
    status === 422 && json.error_code === 'ERR-VALIDATION-FAILED' && json.details[0]?.loc.at(-1) !== 'code';

  /** Returns bodies like the good one, with one field missing, of another type or too long, and others. */
  function bodiesLike({ required = [], properties = {} }: BodySchema, good: Fields): unknown[] {
    const without = (field: string) => Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
    const changed = Object.entries(properties).flatMap(([field, { maxLength }]) => [
      without(field),
      // The service reads a null in an optional field as none, which the document need not know.
      ...[7, true, 'x', [], {}, ...(required.includes(field) ? [null] : [])].map((value) => ({
        ...good,
        [field]: value,
      })),
      ...(maxLength === undefined ? [] : [{ ...good, [field]: 'x'.repeat(maxLength + 1) }]),
    ]);
    return [{}, [], null, ...changed];
  }

  test.each(withBody)(
    '%s refuses with 422 the bodies that the document refuses, and no others',
    async (operationId, name) => {
      const operation = operations.find((each) => each.operationId === operationId);
      const $ref = String(operation?.requestBody?.content?.['application/json'].schema.$ref);
      const fits = ajv.compile({ $ref: `https://api.test/${$ref}` });
      const good = await goodRequests[name](api);
      expect(fits(good.body)).toBe(true);
      const schema = checkedIn.components.schemas[String($ref.split('/').at(-1))];
      // First those that change nothing, because a good one may end the session.
      const bodies = Object.groupBy(bodiesLike(schema, good.body ?? {}), (body) => (fits(body) ? 'good' : 'bad'));
      const wrong: unknown[] = [];
      const judge = async (body: unknown, isRight: (answer: Answer) => boolean) => {
        const answer = await sendTo(name, api, { ...good, body: body as Fields });
        if (!isRight(answer)) wrong.push([answer.status, body]);
      };
      for (const body of bodies.bad ?? []) {
        // What fills the longest field may be longer than a body.
        const isTooLong = JSON.stringify(body).length > 16_384;
        await judge(body, ({ status }) => status === 422 || (isTooLong && status === 413));
      }
      for (const body of bodies.good ?? []) await judge(body, (answer) => !isInvalid(answer));
      expect(wrong).toEqual([]);
    },
  );
});
