import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ProvisionError, providePrometheusBinary } from '@auth-account/local-stack';
import { rulesFolder } from './rule-file.ts';

/**
 * `npm run check alerts`: promtool checks the rules and runs their unit tests. promtool comes from the PATH, or from
 * Debian's package if root may install it. If neither is available, it prints a message and does not fail.
 */

const rules = fileURLToPath(rulesFolder);

function run(promtool: string, args: readonly string[]): boolean {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: rules, encoding: 'utf8' });
  console.log(`${stdout}${stderr}`.trimEnd());
  return status === 0;
}

async function findPromtool(): Promise<string | undefined> {
  try {
    return await providePrometheusBinary('promtool', { log: () => undefined });
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    console.log(`LEFT OUT: the alerts were not tested.\n${error.message}`);
    return undefined;
  }
}

const promtool = await findPromtool();
if (promtool !== undefined) {
  const tests = readdirSync(`${rules}tests`).map((file) => `tests/${file}`);
  const areRight = run(promtool, ['check', 'rules', 'auth-account.rules.yaml']);
  const doFire = run(promtool, ['test', 'rules', ...tests]);
  process.exitCode = areRight && doFire ? 0 : 1;
}
