import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const docs = new URL('../../../docs/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8');

/** Code spans that only mention a command. */
const mentions: readonly string[] = [
  'authctl probe',
  'authctl probe --api-url https://api.example.com',
  'authctl probe --interval',
  'kubectl drain',
];

/**
 * Returns the commands of the runbooks and of operators' other pages, each once, with their arguments filled in.
 * Commands are code spans that begin with the name of a command. Throws if a page needs an argument that is not among
 * the values, such as `request_id` for `<request_id>`.
 */
export function findPageCommands(values: Readonly<Record<string, string>>): readonly string[] {
  const pages = [
    'operations.md',
    'signed-out.md',
    ...readdirSync(new URL('runbooks', docs)).map((file) => `runbooks/${file}`),
  ];
  const spans = pages.flatMap((page) => {
    const prose = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
    return [...prose.matchAll(/`((?:authctl|kubectl|readyz) [^`\n]+)`/g)].map(([, span = '']) => span);
  });
  const fill = (command: string) =>
    command.replaceAll(/<(\w+)>/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the test has no ${name} for: ${command}`);
      return value;
    });
  return [...new Set(spans)].filter((span) => !mentions.includes(span)).map(fill);
}

/** Returns the blocks of commands in a section of docs/operations.md. */
export function findBlocks(heading: string): readonly string[] {
  const [, after = ''] = read('operations.md').split(new RegExp(`^#+ ${heading}\\n`, 'm'));
  const section = after.split(/^##/m, 1)[0] ?? '';
  const blocks = [...section.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block);
  if (blocks.length === 0) throw new Error(`docs/operations.md has no commands below ${heading}`);
  return blocks;
}

/**
 * Returns the lines of docs/operations.md to run before its commands: definitions of shell functions, and the lines
 * that start the pod for authctl.
 */
export function findPreparation(namespace: string) {
  const [functions, start] = findBlocks('Before the commands');
  if (!functions?.startsWith('NS=auth\n') || start === undefined)
    throw new Error('docs/operations.md does not say what to do before its commands');
  return { functions: functions.replace('NS=auth\n', `NS=${namespace}\n`), start };
}

/** Runs the work in a folder with the parts of the repository that the pages' commands use, and removes the folder. */
export async function withPageFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-page-'));
  try {
    for (const name of ['charts', 'node_modules', 'package.json']) {
      await symlink(join(process.cwd(), name), join(folder, name));
    }
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Limit in milliseconds for a command that hangs. */
const limitMs = 240_000;

/** Runs a script in bash, for at most four minutes without another `timeout`. `said` is the end of its outputs. */
export function runInShell(script: string, options: SpawnSyncOptions = {}) {
  const env = { USER: 'operator', ...process.env };
  const all = { timeout: limitMs, env, ...options, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], all);
  return { status, stdout, said: `${stdout.slice(-1_000)}${stderr.slice(-1_000)}` };
}
