import { spawnSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { nodeFor, SERVICES } from '../../../libs/local-stack/src/index.ts';

/** Separates `--node MAJOR` from the other arguments. Throws if MAJOR is not the version of the api and the worker. */
export function takeNode(args: readonly string[]): {
  readonly node: string | undefined;
  readonly rest: readonly string[];
} {
  const at = args.indexOf('--node');
  if (at === -1) return { node: undefined, rest: args };
  const node = nodeFor(SERVICES.api.main);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  if (version.split('.')[0] !== `v${args[at + 1]}`) {
    throw new Error(`--node takes the version of the api and the worker, ${version}, not "${args[at + 1] ?? ''}"`);
  }
  return { node, rest: args.toSpliced(at, 2) };
}

/**
 * Runs Jest on this Node with all tests except those that import the gateway, whose sockets have no binary for this
 * Node. Returns the exit code.
 */
export function testOnNode(node: string, jest: readonly string[], rest: readonly string[]): number {
  const gateway = join(dirname(SERVICES['push-gateway'].main), 'compose.ts');
  const listed = spawnSync(process.execPath, [...jest, '--listTests', '--findRelatedTests', gateway], {
    encoding: 'utf8',
  });
  const others = listed.stdout.split('\n').filter(Boolean);
  if (listed.status !== 0 || others.length === 0)
    throw new Error(`Jest lists no test of the gateway: ${listed.stderr}`);
  const leftOut = others.map((file) => `/${relative('', file).replaceAll('.', String.raw`\.`)}$`);
  const ignored = ['/node_modules/', ...leftOut].flatMap((pattern) => ['--testPathIgnorePatterns', pattern]);
  // These come last, because an option with several values takes all words that follow.
  return spawnSync(node, [...jest, ...rest, ...ignored], { stdio: 'inherit' }).status ?? 1;
}
