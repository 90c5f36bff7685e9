import { spawnSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { nodeFor, SERVICES } from '../../../libs/local-stack/src/index.ts';

/**
 * Runs Jest on the Node of the api and the worker with all tests except those that import the gateway, whose sockets have
 * no binary for this Node. Returns the exit code. Throws if `major` is not its version.
 */
export function testOnNode(major: string, jest: readonly string[], rest: readonly string[]): number {
  const node = nodeFor(SERVICES.api.main);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  if (version.split('.')[0] !== `v${major}`)
    throw new Error(`--node takes the version of the api and the worker, ${version}, not "${major}"`);
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
