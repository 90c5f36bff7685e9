const everyMs = 30_000;
let last = performance.now();

/** Reports the progress of a long form on stderr, twice a minute at most; the suite's form reports nothing. */
export function showProgress(isSuite: boolean, figures: Readonly<Record<string, number>>): void {
  if (isSuite || performance.now() - last < everyMs) return;
  last = performance.now();
  const parts = Object.entries(figures).map(([name, value]) => `${value} ${name}`);
  process.stderr.write(`so far: ${parts.join(', ')}\n`);
}
