import { readRuns } from '../stores/recorded-runs.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes README.md's table of the stores from test/tools/stores/runs.json. With --check it only compares. */

const rows = (await readRuns())
  .toSorted((a, b) => a.store.localeCompare(b.store))
  .map(({ product, version, date, passed, failed, skipped }) => {
    const others = [failed > 0 ? [`${failed} failed`] : [], skipped > 0 ? [`${skipped} left out`] : []].flat();
    return [`${product} ${version}`, date, [`${passed} passed`, ...others].join(', ')];
  });
const stores = toTable(['Store', 'Run on', 'Tests'], rows);
generateSections({ page: 'README.md', generator: 'stores', sections: { stores } });
