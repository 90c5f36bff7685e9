import { namedServers, type ServerName } from '../stores/named-servers.ts';
import { onGithub, type RecordedRun, readRuns } from '../stores/recorded-runs.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/testing.md's table of the stores from test/tools/stores/runs.json. With --check it only compares. */

const runs = await readRuns();

function rowOf({ product, version, where, date, passed, failed, skipped }: RecordedRun): string[] {
  const others = [failed > 0 ? [`${failed} failed`] : [], skipped > 0 ? [`${skipped} left out`] : []].flat();
  return [`${product} ${version}`, where, date, [`${passed} passed`, ...others].join(', ')];
}

const rows = (Object.keys(namedServers) as ServerName[]).toSorted().map((name) => {
  const run = runs.find(({ store }) => store === name);
  return run
    ? rowOf(run)
    : [name.replace(/^\w+/, namedServers[name].product).replace('-', ' '), onGithub, 'not yet run', ''];
});
const stores = toTable(['Store', 'Where', 'Run on', 'Tests'], rows);
generateSections({ page: 'docs/testing.md', generator: 'stores', sections: { stores } });
