import { readdirSync, readFileSync } from 'node:fs';

const docs = new URL('../../../docs/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8');

/** Spans that name a command and are not to be run as they stand. */
const mentions: readonly string[] = [
  'authctl keys generate access',
  'authctl keys rotate access --prune',
  'authctl probe',
  'authctl probe --api-url https://api.example.com',
  'authctl probe --interval',
  'authctl sessions revoke',
  'kubectl drain',
];

/** Values of the commands' arguments: `<request_id>` in a page is `request_id` here. */
export type PageValues = Readonly<Record<string, string>>;

/**
 * Returns the commands of the runbooks and of what operators read beside them, each once: every code span that begins with a command
 * line's first word, with its arguments filled in. Throws if a page wants an argument that is not among the values.
 */
export function findPageCommands(values: PageValues): readonly string[] {
  const pages = [
    'operations.md',
    'signed-out.md',
    ...readdirSync(new URL('runbooks', docs)).map((file) => `runbooks/${file}`),
  ];
  const spans = pages.flatMap((page) => {
    const prose = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
    return [...prose.matchAll(/`((?:authctl|kubectl|readyz) [^`\n]+)`/g)].map(([, span = '']) => span);
  });
  return [...new Set(spans)].filter((span) => !mentions.includes(span)).map((span) => fill(span, values));
}

function fill(command: string, values: PageValues): string {
  return command.replaceAll(/<(\w+)>/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the test has no ${name} for: ${command}`);
    return value;
  });
}

/** Returns the lines that docs/operations.md wants run before its commands, for this namespace. */
export function findPreparation(namespace: string): string {
  const [, block] = /## Before the commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('operations.md')) ?? [];
  if (!block?.startsWith('NS=auth\n'))
    throw new Error('docs/operations.md does not say what to run before its commands');
  return block.replace('NS=auth\n', `NS=${namespace}\n`);
}
