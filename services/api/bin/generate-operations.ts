import { readFileSync } from 'node:fs';
import { type RouteName, routes } from '@auth-account/contracts/http/routes';
import { generateSections, toTable } from '../../../test/tools/generate/page-sections.ts';

/** Writes docs/api.md's table of operations from docs/openapi.json. With --check it only compares. */

const CONTRACT = new URL('../../../docs/openapi.json', import.meta.url);

/** Error codes that the page explains once, for all operations. */
const sharedCodes = new Set([
  'PMA_TRACE_ID_MISSING',
  'ERR-PAYLOAD-TOO-LARGE',
  'ERR-UNSUPPORTED-MEDIA-TYPE',
  'ERR-VALIDATION-FAILED',
  'ERR-RATE-LIMITED',
  'ERR-INTERNAL',
  'ERR-DEPENDENCY-UNAVAILABLE',
  'IAD_JWT_ACCESS_INVALID',
  'IAD_JWT_ACCESS_EXPIRED',
]);

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Content {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly unknown[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

const { paths, components }: Contract = JSON.parse(readFileSync(CONTRACT, 'utf8'));

/** Returns what a reference of the document refers to. */
function resolve<T extends { readonly $ref?: string }>(part: T | undefined): T | undefined {
  const [, , kind = '', name = ''] = part?.$ref?.split('/') ?? [];
  return name === '' ? part : (components[kind]?.[name] as T);
}

const schemaOf = (part: Content | undefined) => resolve(resolve(part)?.content?.['application/json']?.schema);

/** Returns the members of an object, with `?` after those that may be missing, and the values of constants. */
function membersOf({ properties = {}, required = [] }: Schema = {}): string {
  const members = Object.entries(properties).filter(([name]) => name !== 'timestamp');
  const texts = members.map(([name, { const: value }]) => {
    const text = value === undefined ? name : `${name}: ${JSON.stringify(value)}`;
    return `\`${text}\`${required.includes(name) ? '' : '?'}`;
  });
  return texts.join(', ');
}

/** Returns the data of a success. */
const dataOf = (part: Content | undefined) => membersOf(resolve(schemaOf(part)?.properties?.data));

const session = dataOf(paths['/api/v1/auth/refresh']?.post?.responses['200']);

function ownErrors(responses: Operation['responses']): string {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const codes = failures.flatMap(([status, { description }]) =>
    [...description.matchAll(/^- `([\w-]+)`/gm)].map(([, code = '']) => ({ status, code })),
  );
  const own = codes.filter(({ code }) => !sharedCodes.has(code));
  return own.map(({ status, code }) => `${status} \`${code}\``).join('<br>');
}

function toRow(path: string, method: string, operation: Operation): string[] {
  const { operationId, summary, security = [], responses, requestBody } = operation;
  const success = Object.keys(responses).find((status) => Number(status) < 300) ?? '';
  const data =
    operationId === 'logIn' ? dataOf(responses[success]) : dataOf(responses[success]).replace(session, 'as a login');
  const { promises } = routes[operationId as RouteName];
  const name = `\`${method.toUpperCase()} ${path}\`<br>[${summary}](specification/${promises})`;
  return [
    name,
    security.length > 0 ? 'yes' : '',
    membersOf(schemaOf(requestBody)),
    `${success} ${data}`.trim(),
    ownErrors(responses),
  ];
}

const rows = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => 'responses' in operation)
    .map(([method, operation]) => toRow(path, method, operation)),
);
const endpoints = toTable(['Operation', 'Access token', 'Body', 'Success', 'Errors of its own'], rows);
generateSections({ page: 'docs/api.md', generator: 'endpoints', sections: { endpoints } });
