import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Searches the whole history for secrets with gitleaks, if that is installed (`go install
 * github.com/zricethezav/gitleaks/v8@v8.30.1`). .gitleaks.toml lists the excepted values.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function findGitleaks(): string | undefined {
  const { PATH = '', GOBIN, GOPATH = join(homedir(), 'go') } = process.env;
  const folders = [...PATH.split(delimiter), ...(GOBIN ? [GOBIN] : []), join(GOPATH, 'bin')];
  return folders.map((folder) => join(folder, 'gitleaks')).find((file) => existsSync(file));
}

const gitleaks = findGitleaks();
if (gitleaks === undefined || !existsSync(join(ROOT, '.git'))) {
  console.log(`LEFT OUT: there is no ${gitleaks === undefined ? 'gitleaks' : 'history'} here`);
} else {
  const { status } = spawnSync(gitleaks, ['git', '--no-banner', '--redact', '--verbose', ROOT], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
