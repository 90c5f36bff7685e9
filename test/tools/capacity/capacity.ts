import { readBenchFigures } from './bench-figures.ts';
import { capacityOf } from './model.ts';
import { parseAssumptions, UsageError, usage } from './options.ts';
import { assumptionLines, capacityLines, inColumns } from './report.ts';

/**
 * `npm run capacity -- --devices N [--ttl S …]`: prints what a deployment needs, from the figures of docs/benchmarks.md
 * and figures.ts. `--help` lists the assumptions. Exits with 2 if an option is invalid.
 */
try {
  const on = parseAssumptions(process.argv.slice(2));
  if (on === undefined) {
    console.log(usage());
  } else {
    const bench = readBenchFigures();
    console.log(`Assumptions: each is an option\n${inColumns(assumptionLines(on))}\n`);
    console.log(`Needed, by the figures of docs/benchmarks.md (${bench.day}) and docs/scaling.md; not tried`);
    console.log(inColumns(capacityLines(capacityOf(on, bench))));
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n--help lists the options.`);
  process.exitCode = 2;
}
