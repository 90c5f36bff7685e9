import { readFileSync, writeFileSync } from 'node:fs';
import { parseValueEntries, type ValueEntry } from './value-entries.ts';

const CHART = new URL('../../../../charts/auth-account/', import.meta.url);

export function readChartFile(name: string): string {
  return readFileSync(new URL(name, CHART), 'utf8');
}

export function readValueEntries(): ValueEntry[] {
  return parseValueEntries(readChartFile('values.yaml'));
}

/**
 * Writes a file of the chart. With --check on the command line it writes nothing, but reports a file that is out of
 * date, and sets exit code 1.
 */
export function writeOrCheck(name: string, before: string, after: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(new URL(name, CHART), after);
  } else if (after !== before) {
    console.error(`charts/auth-account/${name} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}
