import { parseArgs } from 'node:util';
import { runUp } from '../src/stack/run-up.ts';

/** `npm run up` runs the whole system on this machine. */

const USAGE = `Usage: npm run up [-- options]
  --fresh      start without the data of earlier starts
  --no-color   plain prefixes
  --help       this text`;

const OLDEST_NODE = [22, 18] as const;

function isNodeNewEnough(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function readOptions() {
  const { values } = parseArgs({
    options: { fresh: { type: 'boolean' }, 'no-color': { type: 'boolean' }, help: { type: 'boolean' } },
  });
  return values;
}

async function main(): Promise<number> {
  if (!isNodeNewEnough()) {
    console.error(
      `Node ${OLDEST_NODE.join('.')} or later is needed; this is ${process.version} (${process.execPath}).`,
    );
    return 1;
  }
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (options['no-color']) process.env.NO_COLOR = '1';
  // If the terminal or pipe is gone, the stack must still shut down in order.
  process.stdout.on('error', () => process.emit('SIGHUP', 'SIGHUP'));
  return runUp({ env: process.env, fresh: options.fresh ?? false, print: (line) => console.log(line) });
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
