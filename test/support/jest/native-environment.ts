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

/** Kinds of resources that keep the process alive until they are closed. Idle connections of a pool are none of them. */
const kinds = ['TCPServerWrap', 'ProcessWrap', 'Timeout'];

/** Counts the open resources by kind. */
function openResources(): ReadonlyMap<string, number> {
  const open = process.getActiveResourcesInfo();
  return new Map(kinds.map((kind) => [kind, open.filter((each) => each === kind).length]));
}

/** Returns what has been open since, because what is being closed takes a moment, for longer than ten seconds. */
async function leftSince(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const left = [...openResources()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (left.length === 0) return [];
    if (tries === 200) return left.map(([kind, count]) => `${count - (before.get(kind) ?? 0)} ${kind}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Jest's environment of tests that run in Node itself. Its global object is the process's own, not one of `node:vm`.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = moduleMocker;
  readonly fakeTimers = null;
  readonly fakeTimersModern = fakeTimersModern;
  readonly #before = openResources();
  #hasFailed = false;

  setup(): Promise<void> {
    return Promise.resolve();
  }

  /** Notes a failure, as jest-circus reports it. */
  handleTestEvent({ name }: { readonly name: string }): void {
    if (['test_fn_failure', 'hook_failure'].includes(name)) this.#hasFailed = true;
  }

  /**
   * Throws if the file has left a server, a child process or a timer that keeps the process alive. A failed test may
   * leave some, and must not be hidden by them.
   */
  async teardown(): Promise<void> {
    fakeTimersModern.useRealTimers();
    // Loaded only here, because most files start no process.
    if (this.#hasFailed) (await import('../processes/service-process.ts')).killOwnProcesses();
    const left = this.#hasFailed ? [] : await leftSince(this.#before);
    if (left.length > 0) throw new Error(`the file leaves open: ${left.join(', ')}`);
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  getVmContext(): null {
    return null;
  }
}
