/** Counts and prints the results of checks. */
export interface Reporter {
  /** Runs one check and prints its seconds and the figures that it returns. Returns true if it passed. */
  check(name: string, run: () => Promise<readonly string[]>): Promise<boolean>;
  counted(): { readonly passed: number; readonly failed: number };
}

/** Creates a reporter. `onFailure` is called once per failure, to print what may explain it. */
export function createReporter(onFailure: () => Promise<void>): Reporter {
  const count = { passed: 0, failed: 0 };
  const begin = performance.now();
  return {
    async check(name, run) {
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
