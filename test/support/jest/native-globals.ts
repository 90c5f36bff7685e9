import { jestExpect } from '@jest/expect';
import { currentGlobals, type TestGlobals } from './native-runtime.ts';

// Replaces `@jest/globals` in native tests. Modules stay loaded from file to file, but each file has its own functions.

export { jest } from './native-environment.ts';
export const expect = jestExpect;
export const afterAll = ofCurrentFile('afterAll');
export const afterEach = ofCurrentFile('afterEach');
export const beforeAll = ofCurrentFile('beforeAll');
export const beforeEach = ofCurrentFile('beforeEach');
export const describe = ofCurrentFile('describe');
export const test = ofCurrentFile('test');

function ofCurrentFile<Name extends keyof TestGlobals>(name: Name): TestGlobals[Name] {
  return new Proxy<TestGlobals[Name]>(currentGlobals()[name], {
    apply: (_, self, given) => Reflect.apply(currentGlobals()[name], self, given),
    get: (_, key) => Reflect.get(currentGlobals()[name], key),
  });
}
