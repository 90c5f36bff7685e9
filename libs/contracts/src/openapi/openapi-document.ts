import { requestHeaders } from '../http/request-headers.ts';
import type { Route } from '../http/route.ts';
import { routes } from '../http/routes.ts';
import type { DocumentedErrors } from './documented-error.ts';
import { errorAnswers, errorResponses } from './error-responses.ts';
import { codeSchemas, unionKey, unionNames, unionSchema } from './error-schemas.ts';
import { type Json, type JsonObject, publishNamedSchemas, publishSchema } from './publish-schema.ts';
import { headersOf, headersOfAll, responseHeaders } from './response-headers.ts';

export type { DocumentedError, DocumentedErrors, ErrorExample } from './documented-error.ts';

const description = `Accounts and sessions of a multi-tenant system.

- Every error has the body \`error_code\`, \`message\`, \`details\`. The code decides what a client does; \`X-Error-Code\` names
  the row of the error catalogue if an endpoint code stands for one. \`x-reaction\` and \`x-retry\` of its schema, and
  \`x-error-catalogue\` for every code of the family's services, tell a program what to do.
- Unknown fields of requests are ignored; clients ignore unknown fields of answers.
- A path that does not exist answers 404 \`ERR-ROUTE-NOT-FOUND\`; a method that a path does not have answers 405
  \`ERR-METHOD-NOT-ALLOWED\` with \`Allow\`.
- Bodies are JSON objects in UTF-8 of at most 16 KiB, without duplicate keys and not compressed.
- The tokens of the examples are shortened and open nothing: the description of an example names the fields to fill in.
- [The push stream](/docs/stream) of a device has a document of its own, in AsyncAPI 3.0: frames and close codes.`;

const tags = {
  Accounts: 'Users and the spaces that they live in.',
  Sessions: 'Token pairs: one session per user and device.',
  Groups: 'Members who share a space.',
  Invites: 'Invitations to a group: anyone who has the token can join.',
  Passkeys: 'Public keys of authenticators, in place of a password; and which apps may use them.',
  Identities: 'Logins by Apple, Google and other providers of OpenID Connect.',
  Keys: 'What other services need to verify access tokens: public keys, the metadata that leads to them, revocations.',
} satisfies Record<Route['tag'], string>;

/**
 * Fields of request examples whose values no document can know in advance, and the source of each. A test fills them in
 * and sends the rest of each example as it stands.
 */
export const liveFields: Readonly<Record<string, string>> = {
  challenge_id: 'of the challenge',
  code: 'of the mail or the authenticator app',
  credential: 'the authenticator’s answer to the challenge',
  factor_id: 'of `createTotp`',
  id_token: 'from the provider, with the challenge’s nonce',
  link_challenge_id: 'of the refused login',
  payload: 'signed by the provider',
  refresh_token: 'the session’s newest',
  stop_token: 'of the mail',
  undo_token: 'of the mail',
  user_id: 'of a member',
};

/** The part of a row in the error catalogue that a client uses. */
export interface ErrorReaction {
  readonly http: number;
  readonly reaction: JsonObject;
  readonly retry: string;
}

/**
 * Returns the OpenAPI 3.1 document of the API, built from the route table. `errors` has the codes that routes return,
 * and `reactions` has every code of the error catalogue. Throws if a route names a code that is missing from `errors`.
 */
export function openApiDocument(
  errors: DocumentedErrors,
  reactions: Readonly<Record<string, ErrorReaction>>,
): JsonObject {
  const all: readonly Route[] = Object.values(routes);
  const paths = Map.groupBy(all, ({ path }) => path);
  const used = new Set(all.flatMap((route) => route.errors));
  const answers = all.flatMap((route) => errorAnswers(route.operationId, route.errors, errorsOf(route, errors)));
  const names = unionNames(answers);
  const unions = answers.flatMap(({ status, codes }) => {
    const name = names.get(unionKey({ status, codes }));
    return name === undefined ? [] : [[name, unionSchema(codes, errors)] as const];
  });
  const parts = Object.fromEntries(
    [...paths].map(([path, group]) => [
      openApiPath(path),
      Object.fromEntries(group.map((route) => [route.method, operationOf(route, errors, names)])),
    ]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Authentication and Account Service',
      version: '1.0.0',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The host that serves this document.' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths: parts,
    components: {
      schemas: usedIn(parts, { ...publishNamedSchemas(), ...codeSchemas(used, errors), ...Object.fromEntries(unions) }),
      headers: usedIn(parts, responseHeaders),
      parameters: Object.fromEntries(
        Object.entries(requestHeaders).map(([name, header]) => [name, parameterOf(name, header)]),
      ),
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of login or refresh (RFC 9068).',
        },
        internalServiceSecret: {
          type: 'http',
          scheme: 'bearer',
          description: 'The credential of an internal service: the name of its secret, a full stop, and the secret.',
        },
      },
    },
    'x-error-catalogue': Object.fromEntries(Object.entries(reactions).map(([code, row]) => [code, { ...row }])),
  };
}

/**
 * Returns the components that the part refers to, also through others. Two schemas of the same text share the name of
 * one, and each code generator would make a class of the other.
 */
function usedIn(part: Json, components: JsonObject): JsonObject {
  const used = new Set<string>();
  const visit = (text: string) => {
    for (const [, name = ''] of text.matchAll(/"#\/components\/\w+\/([\w-]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(JSON.stringify(components[name]) ?? '');
    }
  };
  visit(JSON.stringify(part));
  return Object.fromEntries(Object.entries(components).filter(([name]) => used.has(name)));
}

/** Converts an Express path (`/x/:id`) to OpenAPI's form (`/x/{id}`). */
export function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function operationOf(route: Route, errors: DocumentedErrors, names: ReadonlyMap<string, string>): JsonObject {
  const { operationId, tag, summary, description: text, body, success, token } = route;
  const isIdempotent = route.headers.includes('Idempotency-Key');
  const replayed: JsonObject = isIdempotent ? headersOf(['Idempotency-Replayed'], () => false) : {};
  const parameters = parametersOf(route);
  const answer = {
    headers: { ...headersOf(headersOfAll, () => true), ...replayed },
    content: { 'application/json': { schema: publishSchema(success.body), example: success.example as Json } },
    ...(success.links === undefined ? {} : { links: success.links }),
  };
  return {
    operationId,
    tags: [tag],
    summary,
    description: text,
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(route, publishSchema(body)) }),
    responses: {
      [String(success.status)]: {
        description: success.description,
        ...answer,
      },
      ...(success.created === undefined ? {} : { 201: { description: success.created, ...answer } }),
      ...(token === undefined ? {} : tokenAnswers(token)),
      ...errorResponses({ operationId, codes: route.errors }, { errors: errorsOf(route, errors), names }),
    },
  };
}

function tokenAnswers({ accepted, refused }: NonNullable<Route['token']>): JsonObject {
  const headers = headersOf(headersOfAll, () => true);
  const content = { 'application/json': { schema: publishSchema(refused.body), example: refused.example as Json } };
  return {
    202: { description: accepted, headers },
    400: {
      description: refused.description,
      headers: { ...headers, ...headersOf(['Content-Language'], () => true) },
      content,
    },
  };
}

function securityOf({ auth }: Route): JsonObject[] {
  if (auth === 'none') return [];
  return [auth === 'internalService' ? { internalServiceSecret: [] } : { accessToken: [] }];
}

function errorsOf({ errorStatuses = {} }: Route, errors: DocumentedErrors): DocumentedErrors {
  const narrowed = Object.entries(errors).map(([code, error]) => [
    code,
    { ...error, statuses: errorStatuses[code] ?? error.statuses },
  ]);
  return Object.fromEntries(narrowed);
}

function parametersOf({ path, params = {}, headers }: Route): JsonObject[] {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => String(name));
  const inPath = names.map((name) => {
    const schema = params[name];
    if (schema === undefined) throw new Error(`the route ${path} has no schema for ${name}`);
    return { name, in: 'path', required: true, schema: publishSchema(schema) };
  });
  return [...inPath, ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function requestBodyOf({ requests = {}, token }: Route, schema: JsonObject): JsonObject {
  const examples = Object.entries(requests).map(([name, { summary, value }]) => {
    const live = describeLiveFields(value);
    return [name, { summary, ...(live && { description: live }), value: value as JsonObject }];
  });
  const json = { 'application/json': { schema, examples: Object.fromEntries(examples) } };
  const raw = token && { [token.mediaType]: { schema: { type: 'string' }, example: token.sent } };
  return { required: true, content: { ...json, ...raw } };
}

/** Returns the sentence that names the live fields of an example; undefined if it has none. */
function describeLiveFields(value: object): string | undefined {
  const live = Object.keys(value).filter((field) => field in liveFields);
  if (live.length === 0) return;
  return `Fill in ${live.map((field) => `\`${field}\` (${liveFields[field]})`).join(', ')}.`;
}

function parameterOf(name: string, header: (typeof requestHeaders)[keyof typeof requestHeaders]): JsonObject {
  const { required, description: text, schema } = header;
  const example: JsonObject = 'example' in header ? { example: header.example } : {};
  return { name, in: 'header', required, description: text, schema: publishSchema(schema), ...example };
}
