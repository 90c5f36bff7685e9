import { fileURLToPath } from 'node:url';
import { type CalledProcess, openCalls } from '../../process-calls/open-calls.ts';
import { otherDescriptors, withDescriptors } from '../machine/start-server.ts';
import type { LoadClientCalls } from './load-client-main.ts';

export type LoadClient = CalledProcess<LoadClientCalls>;

/** Longest time that opening streams may take. */
const limitMs = 600_000;

/** Starts a client that can hold so many streams. */
export function startLoadClient(streams: number): LoadClient {
  const main = fileURLToPath(new URL('./load-client-main.ts', import.meta.url));
  const [program, ...args] = withDescriptors(streams + otherDescriptors, [
    ...[process.execPath, '--max-old-space-size=4096', main],
  ]);
  return openCalls(program, args, { limitMs });
}
