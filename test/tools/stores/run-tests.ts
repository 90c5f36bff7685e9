import { spawnSync } from 'node:child_process';
import { bundleAll } from '../bundle-all.ts';
import { takeStores } from './store-options.ts';
import { takeNode, testOnNode } from './test-on-node.ts';
import { testOnStores } from './test-on-stores.ts';

/**
 * `npm test [-- JEST'S ARGUMENTS]` runs Jest in place of this process. `npm run test -- --stores NAME,…` runs the
 * suites that concern the stores on each named store. `npm test -- --node 24` runs, on the Node of api and worker, all tests that do not load the gateway. With `--bundles` each
 * process of a service runs its bundle, as in its image. `--costs` prints what the files cost, by folder and kind.
 * `npm run test:system` does the same with the tests of the other tier.
 */

const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.js'];
const given = process.argv.slice(2);
const isBundled = given.includes('--bundles');
if (given.includes('--costs')) process.env.TEST_COSTS = '1';
const { node, rest: args } = takeNode(given.filter((argument) => !['--bundles', '--costs'].includes(argument)));
const { stores, rest } = takeStores(args);
if (node !== undefined && stores.length > 0) throw new Error('--node and --stores are for runs of their own');
if (isBundled) await bundleAll();
if (node !== undefined) process.exitCode = testOnNode(node, jest, rest);
else if (stores.length > 0) process.exitCode = await testOnStores({ stores, jest, rest });
else if (process.execve) process.execve(process.execPath, [process.execPath, ...jest, ...rest], process.env);
else process.exitCode = spawnSync(process.execPath, [...jest, ...rest], { stdio: 'inherit' }).status ?? 1;
