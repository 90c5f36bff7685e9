import { spawnSync } from 'node:child_process';
import { takeStores } from './store-options.ts';
import { testOnStores } from './test-on-stores.ts';

/**
 * `npm test [-- JEST'S ARGUMENTS]` runs Jest in the place of this process. `npm run test -- --stores NAME,…` runs the
 * suites that concern the stores on each of these; with `--record` it notes the runs for the README's table.
 */

const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.js'];
const { stores, isRecorded, rest } = takeStores(process.argv.slice(2));
if (stores.length > 0) process.exitCode = await testOnStores({ stores, isRecorded, jest, rest });
else if (process.execve) process.execve(process.execPath, [process.execPath, ...jest, ...rest], process.env);
else process.exitCode = spawnSync(process.execPath, [...jest, ...rest], { stdio: 'inherit' }).status ?? 1;
