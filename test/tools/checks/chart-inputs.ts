import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Everything that the chart's check reads, which is the chart, its checks, and the schemas that generate it. */
const inputs = [
  'charts',
  'test/tools/chart',
  'test/tools/generate/chart',
  'libs/config/src',
  'package-lock.json',
  'services/api/src/config.ts',
  'services/api/src/limits/limits-table.ts',
  'services/authctl/src/probe/probe-config.ts',
  'services/push-gateway/src/config.ts',
  'services/worker/src/config.ts',
];

/**
 * Remembers the inputs with which the chart's check last passed, because the check takes a minute and its inputs rarely
 * change.
 */
export function createChartMemory(root: string) {
  const file = join(root, 'node_modules/.cache/auth-account/chart-checked');
  const now = fingerprint(root);
  return {
    isUnchanged: () => existsSync(file) && readFileSync(file, 'utf8') === now,
    /** Must be called when the check has passed and left nothing out. */
    remember() {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, now);
    },
  };
}

function fingerprint(root: string): string {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((input) => filesOf(root, input))) {
    hash
      .update(`${file}\n`)
      .update(readFileSync(join(root, file)))
      .update('\n');
  }
  return hash.digest('hex');
}

/** Returns the files at or below this path, always in the same order. */
function filesOf(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  const entries = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}
