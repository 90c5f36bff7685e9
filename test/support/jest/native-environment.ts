import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

// All files of a worker share one mocker, because they share their modules.
const moduleMocker = new ModuleMocker(globalThis);
type TimersOptions = ConstructorParameters<typeof ModernFakeTimers>[0];
const config = { fakeTimers: {} } as TimersOptions['config'];
const fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });

/** The `jest` of `@jest/globals`, as far as the tests need it. There is no mocking of modules. */
export const jest = {
  fn: moduleMocker.fn.bind(moduleMocker),
  spyOn: moduleMocker.spyOn.bind(moduleMocker),
  restoreAllMocks: () => moduleMocker.restoreAllMocks(),
  useFakeTimers: (...given: Parameters<ModernFakeTimers['useFakeTimers']>) => fakeTimersModern.useFakeTimers(...given),
  useRealTimers: () => fakeTimersModern.useRealTimers(),
  advanceTimersByTime: (ms: number) => fakeTimersModern.advanceTimersByTime(ms),
  getTimerCount: () => fakeTimersModern.getTimerCount(),
};

/**
 * Jest's environment of tests that run in Node itself. Its global object is the process's own, not one of `node:vm`.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = moduleMocker;
  readonly fakeTimers = null;
  readonly fakeTimersModern = fakeTimersModern;

  setup(): Promise<void> {
    return Promise.resolve();
  }

  async teardown(): Promise<void> {
    fakeTimersModern.useRealTimers();
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  getVmContext(): null {
    return null;
  }
}
