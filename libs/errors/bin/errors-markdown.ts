import type { CatalogueRow, DetailType, Domain, Reaction } from '../src/catalogue/row.ts';
import { type ErrorCode, errorCodes, rowOf } from '../src/catalogue.ts';
import { errorDomain } from '../src/grpc/error-domain.ts';
import type { CodeText } from '../src/locales/messages.ts';
import { locales } from '../src/locales.ts';
import { validationTypes } from '../src/validation-item.ts';

const titles: Readonly<Record<Domain, string>> = {
  IAD: 'Identity and Access (IAD)',
  MDM: 'Master data (MDM)',
  INV: 'Inventory (INV)',
  AID: 'AI orchestration (AID)',
  AFF: 'Predictive analytics (AFF)',
  PMA: 'Monitoring and audit (PMA)',
  ENDPOINT: 'Endpoint codes',
};

const intro = `# Errors

Generated from \`libs/errors/src/catalogue.ts\` by \`node libs/errors/bin/generate.ts\`; edit the table, not this page.
The same table for programs: \`libs/errors/catalogue.json\`.

## What an error looks like
Over HTTP the body has exactly three fields: \`error_code\`, \`message\` and \`details\`. \`details\` is an object whose
\`action\` tells the user what to do, in addition to the fields listed under "Details" below; for \`ERR-VALIDATION-FAILED\` it is an array of
items with \`loc\` (array of strings), \`msg\` (English) and \`type\`, one of ${validationTypes.map(quote).join(', ')}.

| Header | When |
|---|---|
| \`X-Error-Code\` | The canonical code: the code itself if it is one of the six domains, else the row that the endpoint code stands for, if there is one. |
| \`Content-Language\`, \`Vary: Accept-Language\` | Always. \`message\` and \`action\` are in English or Russian. |
| \`Retry-After\` | Whole seconds, at least 1, if the row or the error names a pause. |
| \`WWW-Authenticate\` | On every 401. |
| \`Allow\` | On 405. |

Over gRPC it is a \`google.rpc.Status\` in \`grpc-status-details-bin\`: \`ErrorInfo\` (\`reason\` is the code, \`domain\` is
\`${errorDomain}\`, \`metadata\` has \`http_status\`, \`reaction\` (its type), \`retry\`, \`action\`, \`canonical_code\`), \`LocalizedMessage\`,
\`BadRequest\` for validation items, \`RetryInfo\`, \`RequestInfo\` and a \`google.protobuf.Struct\` with the fields of \`details\`.
The codes \`ERR-…\` stand in \`reason\` as they are, with hyphens. HTTP and gRPC status are stored per row; neither is derived from the other.

A code or an answer that is not of this catalogue never becomes an error that a client acts upon. \`fromHttp\` maps 429 to
\`ERR-RATE-LIMITED\`, 502, 503 and 504 to \`ERR-DEPENDENCY-UNAVAILABLE\`, all else to \`ERR-INTERNAL\`; \`fromGrpc\` maps UNAVAILABLE and
DEADLINE_EXCEEDED to \`ERR-DEPENDENCY-UNAVAILABLE\`, RESOURCE_EXHAUSTED to \`ERR-OVERLOADED\`, all else to \`ERR-INTERNAL\`.

"Retry" says when the same request, unchanged, may succeed: \`after_delay\` is a little later (\`Retry-After\`, then growing pauses),
\`after_refresh\` is at once with a new access token, \`never\` means that something else must change first.
`;

/** Returns the text of docs/errors.md. */
export function errorsMarkdown(): string {
  const domains = Object.keys(titles) as Domain[];
  return [intro, ...domains.map(domainSection), detailsSection(), textsSection(), notesSection()].join('\n');
}

function domainSection(domain: Domain): string {
  const codes = errorCodes.filter((code) => rowOf(code).domain === domain);
  const head =
    '| Code | gRPC | HTTP | Meaning | Reaction | Reaction for programs | Retry | Severity |\n|---|---|---|---|---|---|---|---|';
  return `## ${titles[domain]}\n${head}\n${codes.map(rowLine).join('\n')}\n`;
}

function rowLine(code: ErrorCode): string {
  const row = rowOf(code);
  const http = [row.http, ...(row.httpAlternatives ?? [])].join(' or ');
  const grpc = `${row.grpc.name} (${row.grpc.number})`;
  return line([code, grpc, http, row.meaning, row.reactionText, reactionCell(row.reaction), row.retry, row.severity]);
}

/** Cell of a reaction: its type, and its parameters. */
function reactionCell({ type, ...parameters }: Reaction): string {
  const named = Object.entries(parameters).map(([name, value]) => quote(`${name}: ${String(value)}`));
  return [quote(type), ...named].join(', ');
}

function detailsSection(): string {
  const lines = errorCodes.flatMap((code) => {
    const { details } = rowOf(code);
    if (typeof details !== 'object') return [];
    return Object.entries(details).map(([name, type]) => line([code, quote(name), ...typeCells(type)]));
  });
  return `## Details\nBesides \`action\`.\n\n| Code | Field | Type | Always there |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

/** Cells of a field: its type, and if it is always there. */
function typeCells(type: DetailType): [string, 'yes' | 'no'] {
  if (typeof type !== 'string') return [`one of ${type.map(quote).join(', ')}`, 'no'];
  return [type.replace('?', ''), type.endsWith('?') ? 'no' : 'yes'];
}

function textsSection(): string {
  const sections = Object.entries(locales).map(([locale, messages]) => {
    const lines = errorCodes.flatMap((code) => textLines(code, messages[code]));
    return `### ${locale}\n| Code | message | action |\n|---|---|---|\n${lines.join('\n')}\n`;
  });
  return `## Texts\n${sections.join('\n')}`;
}

function textLines(code: ErrorCode, { message, action, variants = {} }: CodeText): string[] {
  const differing = Object.entries(variants).flatMap(([field, words]) =>
    Object.entries(words).map(([word, text]) =>
      line([`${code}, ${quote(field)} ${quote(word)}`, text.message, text.action]),
    ),
  );
  return [line([code, message, action]), ...differing];
}

function notesSection(): string {
  const lines = errorCodes
    .map((code) => line([code, ...notesOf(rowOf(code))]))
    .filter((text) => !text.endsWith('|  |'));
  return `## Notes\n| Code | Note |\n|---|---|\n${lines.join('\n')}\n`;
}

function notesOf(row: CatalogueRow): [string] {
  const canonical = row.canonical === undefined ? [] : [`Stands for ${row.canonical}.`];
  const pause =
    row.retryAfterSeconds === undefined ? [] : [`\`Retry-After\` is ${row.retryAfterSeconds} s by default.`];
  return [[...canonical, ...pause, ...(row.note === undefined ? [] : [row.note])].join(' ')];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function quote(text: string): string {
  return `\`${text}\``;
}
