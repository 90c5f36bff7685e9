import { fileURLToPath } from 'node:url';
import { type CalledProcess, openCalls } from '../../process-calls/open-calls.ts';
import type { LoadClientCalls } from './load-client-main.ts';

export type LoadClient = CalledProcess<LoadClientCalls>;

/** Longest time that opening streams may take. */
const limitMs = 600_000;

export function startLoadClient(): LoadClient {
  const main = fileURLToPath(new URL('./load-client-main.ts', import.meta.url));
  return openCalls(process.execPath, ['--max-old-space-size=4096', main], { limitMs });
}
