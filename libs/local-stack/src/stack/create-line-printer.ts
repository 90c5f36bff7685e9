import { styleText } from 'node:util';
import type { Log } from '../log.ts';

const COLOURS = { api: 'cyan', 'push-gateway': 'magenta', worker: 'yellow', migrate: 'gray' } as const;
const WIDTH = Math.max(...Object.keys(COLOURS).map((name) => name.length));

/**
 * Prints lines behind the name of the service that wrote them; in colour where stdout is a terminal and NO_COLOR is
 * unset.
 */
export function createLinePrinter(name: string, print: Log): Log {
  const colour = name in COLOURS ? COLOURS[name as keyof typeof COLOURS] : 'blue';
  const prefix = styleText(colour, `${name.padEnd(WIDTH)} |`, { stream: process.stdout });
  return (line) => print(`${prefix} ${line}`);
}
