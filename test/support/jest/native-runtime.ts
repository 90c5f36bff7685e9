import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Globals from '@jest/globals';
import type * as JestRuntime from 'jest-runtime';

const require = createRequire(import.meta.url);
const { default: Runtime }: typeof JestRuntime.default = require('jest-runtime');
const globalsUrl = new URL('native-globals.ts', import.meta.url).href;

/** Property of the global object under which Jest keeps the handlers of a test file's events. */
const eventHandlers = Symbol.for('EVENT_HANDLERS');

/** Functions by which a test file declares its tests. */
export type TestGlobals = Pick<
  typeof Globals,
  'afterAll' | 'afterEach' | 'beforeAll' | 'beforeEach' | 'describe' | 'test'
>;

let globals: TestGlobals | undefined;

registerHooks({
  resolve(specifier, context, next) {
    return specifier === '@jest/globals' ? { url: globalsUrl, shortCircuit: true } : next(specifier, context);
  },
});

/** Returns the functions of the test file that is running. */
export function currentGlobals(): TestGlobals {
  if (globals === undefined) throw new Error('no test file runs');
  return globals;
}

/**
 * Jest's runtime for tests that Node loads itself, as it loads the services: types are stripped, and modules are
 * compiled once per worker and not once per file. A file gets no new modules: if it changes a module's state, the
 * worker's next file finds the change. Modules cannot be mocked.
 */
export default class NativeRuntime extends Runtime {
  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  /** Loads the part of Jest that runs a file, which keeps the state of that file. */
  override requireInternalModule<T>(path: string): T {
    delete require.cache[path];
    Reflect.deleteProperty(globalThis, eventHandlers);
    return require(path);
  }

  override setGlobalsForRuntime(of: TestGlobals): void {
    globals = of;
  }
}
