import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarksPage } from './benchmarks-page.ts';
import { plotsDirectory } from './section.ts';

/** Writes the page and its drawings into the directory, and removes drawings of an earlier run. */
export async function writePage({ text, plots }: BenchmarksPage, directory: string): Promise<void> {
  const drawings = join(directory, plotsDirectory);
  await rm(drawings, { recursive: true, force: true });
  await mkdir(drawings, { recursive: true });
  for (const [file, svg] of Object.entries(plots)) await writeFile(join(drawings, file), svg);
  await writeFile(join(directory, 'benchmarks.md'), text);
}
