import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes docs/api.md's table of operations, between its two markers, from docs/openapi.json. With --check it writes
 * nothing, and exits with 1 if the table is out of date.
 */

const root = new URL('../../../', import.meta.url);
const PAGE = new URL('docs/api.md', root);
const CONTRACT = new URL('docs/openapi.json', root);
const [START, END] = ['<!-- endpoints:start -->', '<!-- endpoints:end -->'];
const HEAD = [
  '| Operation | What it does | Access token | Success | Errors of its own |',
  '| --- | --- | --- | --- | --- |',
];

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

function toLine(path: string, method: string, { summary, security = [], responses }: Operation): string {
  const success = Object.keys(responses).find((status) => Number(status) < 300) ?? '';
  const access = security.length > 0 ? 'yes' : '';
  return `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${access} | ${success} | ${ownErrors(responses)} |`;
}

function toTable({ paths }: Contract): string {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => 'responses' in operation)
      .map(([method, operation]) => toLine(path, method, operation)),
  );
  return [...HEAD, ...lines].join('\n');
}

const before = readFileSync(PAGE, 'utf8');
const [start, end] = [before.indexOf(START), before.indexOf(END)];
if (start < 0 || end < start) throw new Error(`docs/api.md has no ${START} followed by ${END}`);
const table = toTable(JSON.parse(readFileSync(CONTRACT, 'utf8')));
const after = `${before.slice(0, start)}${START}\n\n${table}\n\n${before.slice(end)}`;

if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, after);
} else if (after !== before) {
  console.error('docs/api.md: the table of operations is out of date. Run: npm run generate');
  process.exitCode = 1;
}
