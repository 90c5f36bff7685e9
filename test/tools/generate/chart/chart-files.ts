import { readFileSync } from 'node:fs';
import { parseValueEntries, type ValueEntry } from './value-entries.ts';

const CHART = new URL('../../../../charts/auth-account/', import.meta.url);

function readChartFile(name: string): string {
  return readFileSync(new URL(name, CHART), 'utf8');
}

export function readValueEntries(): ValueEntry[] {
  return parseValueEntries(readChartFile('values.yaml'));
}
