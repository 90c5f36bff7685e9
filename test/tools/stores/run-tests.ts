import { spawnSync } from 'node:child_process';
import { bundleAll } from '../bundle-all.ts';
import { takeOptions } from './store-options.ts';
import { testOnNode } from './test-on-node.ts';
import { testOnStores } from './test-on-stores.ts';

/**
 * `npm test [-- JEST'S ARGUMENTS]` runs Jest in place of this process. `npm run test -- --stores NAME,…` runs the
 * suites that concern the stores on each named store. `npm test -- --node 24` runs, on the Node of api and worker, all
 * tests that do not load the gateway. With `--bundles` each process of a service runs its bundle, as in its image.
 * `--costs` prints what the files cost, by folder and kind. `npm run test:system` does the same with the tests of the
 * other tier.
 */

const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.js'];
/**
 * As in Node 24, on which api and worker run and which has no such option: without it each promise calls a hook, which
 * takes a fifth of the run. Workers have their parent's options.
 */
const contexts = '--experimental-async-context-frame';
const here = process.allowedNodeEnvironmentFlags.has(contexts) ? [contexts, ...jest] : jest;
const own = takeOptions(process.argv.slice(2));
const { stores, node, bundles, costs, rest } = own;
if (costs) process.env.TEST_COSTS = '1';
if (node !== undefined && stores.length > 0) throw new Error('--node and --stores are for runs of their own');
if (bundles) await bundleAll();
if (node !== undefined) process.exitCode = testOnNode(String(node), jest, rest);
else if (stores.length > 0) process.exitCode = await testOnStores(own, here);
else if (process.execve) process.execve(process.execPath, [process.execPath, ...here, ...rest], process.env);
else process.exitCode = spawnSync(process.execPath, [...here, ...rest], { stdio: 'inherit' }).status ?? 1;
