import type { Kubernetes } from './kubernetes.ts';

/** Counts and prints the results of checks. */
export type Reporter = ReturnType<typeof createReporter>;

/** Creates a reporter. `onFailure` is called once per failure, to print what may explain it. */
export function createReporter(onFailure: () => Promise<void>) {
  const count = { passed: 0, failed: 0 };
  const begin = performance.now();
  return {
    /** Runs one check and prints its seconds and the figures that it returns. Returns true if it passed. */
    async check(name: string, run: () => Promise<readonly string[]>): Promise<boolean> {
      const start = performance.now();
      const print = (verdict: string, lines: readonly string[]) => {
        const seconds = ((performance.now() - start) / 1_000).toFixed(1).padStart(6);
        const at = ((performance.now() - begin) / 1_000).toFixed(0).padStart(4);
        console.log(`${verdict} ${seconds} s  (at ${at} s)  ${name}`);
        for (const line of lines) console.log(line.replace(/^/gm, '        '));
      };
      try {
        const figures = await run();
        count.passed += 1;
        print('ok  ', figures);
        return true;
      } catch (error) {
        count.failed += 1;
        print('FAIL', [(error as Error).message]);
        await onFailure().catch((failure: unknown) => console.error(failure));
        return false;
      }
    },
    counted: () => ({ ...count }),
  };
}

/** Prints what may explain a failure, which is the pods, the latest events, and the last lines of each pod's log. */
export async function showState({ kubectl, read }: Kubernetes): Promise<void> {
  const ask = (...args: readonly string[]) => kubectl(args).catch(({ message }: Error) => message);
  console.log(await ask('get', 'pods', '-o', 'wide'));
  const events = await ask('get', 'events', '--sort-by=.lastTimestamp');
  console.log(events.split('\n').slice(-25).join('\n'));
  const pods: { items: { metadata: { name: string } }[] } = await read(['get', 'pods']);
  for (const { metadata } of pods.items) {
    const log = await ask('logs', metadata.name, '--all-containers', '--tail=12');
    console.log(`--- ${metadata.name}\n${log.replaceAll(/^(.{400}).*$/gm, '$1…')}`);
  }
}
