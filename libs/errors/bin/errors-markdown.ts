import type { CatalogueRow, DetailType, Reaction } from '../src/catalogue/row.ts';
import { type ErrorCode, errorCodes, isCatalogueCode, rowOf } from '../src/catalogue.ts';
import { errorDomain } from '../src/grpc/error-domain.ts';
import type { CodeText } from '../src/locales/messages.ts';
import { locales } from '../src/locales.ts';
import { validationTypes } from '../src/validation-item.ts';
import { reactionTexts } from './reaction-texts.ts';

const intro = `# Errors

Generated from \`libs/errors/src/catalogue.ts\` by \`node libs/errors/bin/generate.ts\`; edit the table, not this page.
The same table for programs: \`libs/errors/catalogue.json\`.

## What an error looks like
Over HTTP a body has exactly \`error_code\`, \`message\` and \`details\`. \`details\` is an object, and its \`action\` tells the user what to do. A body never contains a stack trace, query or key.

- \`message\` and \`details.action\` follow \`Accept-Language\`: English or Russian, with \`Content-Language\` and \`Vary: Accept-Language\`.
- \`X-Error-Code\` names the catalogue row, which is the code itself or the row that an endpoint code stands for.
- \`Retry-After\` has whole seconds, at least 1. It is on every 429 and 503. A 401 has \`WWW-Authenticate\`, a 405 \`Allow\`.
- The \`details\` of \`ERR-VALIDATION-FAILED\` are an array of all violations without \`action\`. Each has \`loc\` (strings: \`["body", …path]\` or \`["header", name]\`), \`msg\` (English) and, as in pydantic v2, \`type\`: ${validationTypes.map(quote).join(', ')}.

Over gRPC it is a \`google.rpc.Status\` in \`grpc-status-details-bin\`: \`ErrorInfo\` (\`reason\` is the code, \`domain\` is
\`${errorDomain}\`, \`metadata\` has \`http_status\`, \`reaction\` (its type), \`retry\`, \`action\`, \`canonical_code\`), \`LocalizedMessage\`,
\`BadRequest\` for validation items, \`RetryInfo\`, \`RequestInfo\` and a \`google.protobuf.Struct\` with the fields of \`details\`.
The codes \`ERR-…\` stand in \`reason\` as they are, with hyphens.

A code or an answer that is not of this catalogue never becomes an error that a client acts upon. \`fromHttp\` maps 429 to
\`ERR-RATE-LIMITED\`, 502, 503 and 504 to \`ERR-DEPENDENCY-UNAVAILABLE\`, all else to \`ERR-INTERNAL\`; \`fromGrpc\` maps UNAVAILABLE and
DEADLINE_EXCEEDED to \`ERR-DEPENDENCY-UNAVAILABLE\`, RESOURCE_EXHAUSTED to \`ERR-OVERLOADED\`, all else to \`ERR-INTERNAL\`.

"Retry" says when the same request, unchanged, may succeed: \`after_delay\` is a little later (\`Retry-After\`, then growing pauses),
\`after_refresh\` is at once with a new access token, \`never\` means that something else must change first.
`;

const catalogueNote = `The family of services shares these 35 codes in six domains. HTTP and gRPC status are stored for each row, because 14 rows differ from the usual mapping. \`INV_STOCK_MASKED_MINUS\` is a notice and is never thrown. This service answers with the IAD rows and \`PMA_TRACE_ID_MISSING\`, but has \`IAD_AUTH_EMAIL_DUPLICATE\` only in \`X-Error-Code\`. Its operations have [codes of their own](#endpoint-codes): \`ERR-EMAIL-ALREADY-EXISTS\` stands for \`IAD_AUTH_EMAIL_DUPLICATE\`, and \`ERR-INVITE-TOKEN-INVALID\` for \`IAD_GROUP_INVITE_EXPIRED\` if the invite has expired.

`;

/** The domains of the catalogue, in their order. */
const domains = {
  IAD: 'Identity and Access',
  MDM: 'Master data',
  INV: 'Inventory',
  AID: 'AI orchestration',
  AFF: 'Predictive analytics',
  PMA: 'Monitoring and audit',
};

/** Returns the text of docs/errors.md. */
export function errorsMarkdown(): string {
  return [
    intro,
    catalogueSection(),
    endpointSection(),
    reactionsSection(),
    detailsSection(),
    textsSection(),
    notesSection(),
  ].join('\n');
}

function catalogueSection(): string {
  const codes = errorCodes.filter(isCatalogueCode);
  const parts = Object.entries(domains).map(([domain, title]) =>
    table(
      `### ${title} (${domain})`,
      codes.filter((code) => rowOf(code).domain === domain),
    ),
  );
  return `## The catalogue\n${catalogueNote}${parts.join('\n')}`;
}

function endpointSection(): string {
  return table(
    '## Endpoint codes',
    errorCodes.filter((code) => !isCatalogueCode(code)),
  );
}

/** Returns the rows of the codes under their heading. */
function table(heading: string, codes: readonly ErrorCode[]): string {
  const head =
    '| Code | gRPC | HTTP | Meaning | Reaction | Reaction for programs | Retry | Severity |\n|---|---|---|---|---|---|---|---|';
  return `${heading}\n${head}\n${codes.map(codeLine).join('\n')}\n`;
}

function codeLine(code: ErrorCode): string {
  const { grpc, http, httpAlternatives = [], meaning, reactionText } = rowOf(code);
  const statuses = [`${grpc.name} (${grpc.number})`, [http, ...httpAlternatives].join(' or ')];
  return line([code, ...statuses, meaning, reactionText, ...programCells(code)]);
}

/** Returns the cells that a program reads: reaction, retry, severity. */
function programCells(code: ErrorCode): [string, string, string] {
  const { reaction, retry, severity } = rowOf(code);
  return [reactionCell(reaction), retry, severity];
}

/** Returns the cell of a reaction: its type and its parameters. */
function reactionCell({ type, ...parameters }: Reaction): string {
  const named = Object.entries(parameters).map(([name, value]) => quote(`${name}: ${String(value)}`));
  return [quote(type), ...named].join(', ');
}

function reactionsSection(): string {
  const lines = Object.entries(reactionTexts).map(([type, text]) => line([quote(type), text]));
  return `## Reactions\nTo the errors of this service.\n\n| Reaction | The app |\n|---|---|\n${lines.join('\n')}\n`;
}

function detailsSection(): string {
  const lines = errorCodes.flatMap((code) => {
    const { details } = rowOf(code);
    if (typeof details !== 'object') return [];
    return Object.entries(details).map(([name, type]) => line([code, quote(name), ...typeCells(type)]));
  });
  return `## Details\nBesides \`action\`.\n\n| Code | Field | Type | Always there |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

/** Returns the cells of a field: its type, and whether it is always present. */
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
