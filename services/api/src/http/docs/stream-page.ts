/** The parts of the AsyncAPI document that the page shows. */
interface StreamDocument {
  readonly info: { readonly title: string };
  readonly channels: Readonly<Record<'pushStream' | 'appMessages', Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

interface Reference {
  readonly $ref: string;
}

interface Channel {
  readonly address: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, Reference>>;
  readonly bindings?: { readonly ws: { readonly headers: unknown } };
  readonly 'x-handshake-errors'?: Readonly<
    Record<string, { readonly http: number; readonly reaction: { readonly type: string } }>
  >;
  readonly 'x-close-codes'?: { readonly codes: readonly Close[]; readonly other: Omit<Close, 'code' | 'reason'> };
}

interface Close {
  readonly code: number;
  readonly reason: string;
  readonly reaction: string;
  readonly description: string;
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly messages: readonly Reference[];
}

interface Message {
  readonly title: string;
  readonly summary: string;
  readonly payload: Reference;
  readonly examples: readonly { readonly payload: unknown }[];
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
.wide, pre { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8886; }
td:last-child { min-width: 14rem; }
h1, h2, h3 { line-height: 1.25; }
code, pre { font: .9em/1.45 ui-monospace, monospace; }
pre { padding: .6rem .8rem; background: #8882; border-radius: .3rem; }
section { margin: 1.5rem 0; }`;

const nameOf = ({ $ref }: Reference) => $ref.split('/').at(-1) ?? '';

/** Returns a page without scripts that shows the AsyncAPI document: handshake, frames and close codes. */
export function streamPage(text: string): string {
  const document: StreamDocument = JSON.parse(text);
  const { pushStream, appMessages } = document.channels;
  const received = Object.values(document.operations).flatMap(({ action, messages }) =>
    action === 'receive' ? messages.map(nameOf) : [],
  );
  const ofStream = Object.keys(pushStream.messages);
  const toApp = ofStream.filter((name) => !received.includes(name));
  const fromApp = ofStream.filter((name) => received.includes(name));
  const title = escapeHtml(document.info.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p><a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0) · <a href="/docs">The HTTP API</a></p>
<h2 id="handshake">Handshake</h2>
<p><code>GET ${escapeHtml(pushStream.address)}</code>. ${prose(pushStream.description)}</p>
${folded('Headers', pushStream.bindings?.ws.headers)}
${handshakeErrors(pushStream)}
<h2 id="to-app">Frames to the app</h2>
${toApp.map((name) => messageSection(document, name)).join('\n')}
<h2 id="from-app">Frames from the app</h2>
${fromApp.map((name) => messageSection(document, name)).join('\n')}
<h2 id="close-codes">Close codes</h2>
${closeCodes(pushStream)}
<h2 id="publishing">Messages from other services</h2>
<p><code>${escapeHtml(appMessages.address)}</code>. ${prose(appMessages.description)}</p>
${Object.keys(appMessages.messages)
  .map((name) => messageSection(document, name))
  .join('\n')}
</main>
</body>
</html>
`;
}

function messageSection({ components: { messages, schemas } }: StreamDocument, name: string): string {
  const message = messages[name];
  if (message === undefined) throw new Error(`the document has no message ${name}`);
  const { title, summary, payload, examples } = message;
  const shown = examples.map((example) => code(example.payload));
  return `<section id="${escapeHtml(name)}"><h3>${escapeHtml(title)}</h3><p>${prose(summary.charAt(0).toUpperCase() + summary.slice(1))}.</p>
${shown.join('\n')}
${folded('Schema', schemas[nameOf(payload)])}</section>`;
}

function handshakeErrors({ 'x-handshake-errors': errors = {} }: Channel): string {
  const rows = Object.entries(errors)
    .toSorted(([, one], [, other]) => one.http - other.http)
    .map(([name, { http, reaction }]) => [String(http), `\`${name}\``, `\`${reaction.type}\``]);
  return table(['Refused with', 'Code', 'Reaction'], rows);
}

function closeCodes({ 'x-close-codes': closes }: Channel): string {
  const rows = (closes?.codes ?? []).map(({ code, reason, reaction, description }) => [
    String(code),
    `\`${reason}\``,
    `\`${reaction}\``,
    description,
  ]);
  const other = closes === undefined ? [] : [['other', '', `\`${closes.other.reaction}\``, closes.other.description]];
  return table(['Code', 'Reason', 'Reaction', 'The app'], [...rows, ...other]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${prose(cell)}</${tag}>`).join('')}</tr>`;
  const lines = [line('th', head), ...rows.map((row) => line('td', row))];
  return `<div class="wide" tabindex="0"><table>\n${lines.join('\n')}\n</table></div>`;
}

function folded(title: string, value: unknown): string {
  return `<details><summary>${title}</summary>${code(value)}</details>`;
}

/** Returns a block of code that can be scrolled by keyboard too. */
function code(value: unknown): string {
  return `<pre tabindex="0">${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;
}

/** Converts a text of the document, in which backticks mark code. */
function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
