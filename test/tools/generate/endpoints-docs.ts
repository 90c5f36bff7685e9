import { readFileSync } from 'node:fs';
import { generateSections, toTable } from './page-sections.ts';

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

interface Operation {
  readonly summary: string;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

function ownErrors(responses: Operation['responses']): string {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const codes = failures.flatMap(([status, { description }]) =>
    [...description.matchAll(/^- `([\w-]+)`/gm)].map(([, code = '']) => ({ status, code })),
  );
  const own = codes.filter(({ code }) => !sharedCodes.has(code));
  return own.map(({ status, code }) => `${status} \`${code}\``).join('<br>');
}

function toRow(path: string, method: string, { summary, security = [], responses }: Operation): string[] {
  const success = Object.keys(responses).find((status) => Number(status) < 300) ?? '';
  const access = security.length > 0 ? 'yes' : '';
  return [`\`${method.toUpperCase()} ${path}\``, summary, access, success, ownErrors(responses)];
}

const { paths }: Contract = JSON.parse(readFileSync(CONTRACT, 'utf8'));
const rows = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => 'responses' in operation)
    .map(([method, operation]) => toRow(path, method, operation)),
);
const endpoints = toTable(['Operation', 'What it does', 'Access token', 'Success', 'Errors of its own'], rows);
generateSections({ page: 'docs/api.md', generator: 'endpoints', sections: { endpoints } });
