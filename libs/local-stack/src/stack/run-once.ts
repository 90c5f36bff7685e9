import { once } from 'node:events';
import { type PipedOptions, spawnPiped } from './spawn-piped.ts';

/** Runs a program to its end, with its lines passed on. Throws unless it exits with 0. */
export async function runOnce(options: PipedOptions & { readonly name: string }): Promise<void> {
  const [code, signal] = await once(spawnPiped(options), 'close');
  if (code !== 0) throw new Error(`${options.name} ended with ${signal ?? `exit code ${code}`}`);
}
