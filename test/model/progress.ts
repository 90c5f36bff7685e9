const everyMs = 30_000;
let last = performance.now();

/** Says on stderr how far a long form has come, twice a minute at most; the suite's form says nothing. */
export function showProgress(isSuite: boolean, figures: Readonly<Record<string, number>>): void {
  if (isSuite || performance.now() - last < everyMs) return;
  last = performance.now();
  const parts = Object.entries(figures).map(([name, value]) => `${value} ${name}`);
  process.stderr.write(`so far: ${parts.join(', ')}\n`);
}
