import type { Area } from '../areas.ts';
import { type AreaResult, type Survivor, scoreOf } from './area-result.ts';
import { type Explanation, findReason } from './explain.ts';

/** Area → its last result. */
export type Results = Readonly<Record<string, AreaResult & { readonly measuredOn: string }>>;

const intro = `# Mutation score

The mutation score shows how well the tests of the areas below detect faults. Stryker makes one change in a source (a mutant: a condition negated, a statement removed, a text emptied) and runs the tests. A mutant is killed if a test fails.
Each area has an aim. \`npm run test:long mutation\` measures it and writes this page; \`-- --only tokens,errors\` limits it to some areas. It works in a copy of the project in the temporary directory, so that the working tree stays unchanged,
and uses Stryker from a separate install (\`test/tools/mutation/stryker\`: 177 packages and 64 MB that nothing else needs).
A mutant is run against the test files that \`test/tools/mutation/areas.ts\` names for its source, on a real MongoDB and Redis if those need them. A mutant that another test of the suite would kill may survive here, but not the other way round. All mutators of Stryker are enabled.
A mutant with which a test file could not even be loaded does not count.
`;

/** Returns the text of docs/mutation.md. */
export function mutationPage(areas: readonly Area[], results: Results, explanations: readonly Explanation[]): string {
  const rows = areas.map((area) => summaryRow(area, results[area.name]));
  const head =
    '| Area | Sources | Mutants | Killed | of them by time | Survived | Score | Aim | Left out | Measured on |';
  const table = [head, '| --- | --- | --: | --: | --: | --: | --: | --: | --: | --- |', ...rows].join('\n');
  const lists = areas.flatMap(({ name }) => {
    const result = results[name];
    return result === undefined ? [] : [survivorList(name, result.survivors, explanations)];
  });
  return `${[intro, `${table}\n`, '## What survives\n', ...lists].join('\n')}`;
}

function summaryRow({ name, covers, aim }: Area, result: Results[string] | undefined): string {
  if (result === undefined) return `| ${name} | ${covers} | not measured | | | | | ${aim} % | | |`;
  const { killed, timedOut, invalid, survivors, measuredOn } = result;
  const score = `${scoreOf(result).toFixed(1)} %`;
  const counts = [killed + survivors.length, killed, timedOut, survivors.length, score, `${aim} %`, invalid];
  return `| ${[name, covers, ...counts, measuredOn].join(' | ')} |`;
}

function survivorList(area: string, survivors: readonly Survivor[], explanations: readonly Explanation[]): string {
  if (survivors.length === 0) return `### ${area}\n\nNothing.\n`;
  const rows = survivors.map((survivor) => {
    const place = `${survivor.file}:${survivor.line}`;
    const change = `${code(survivor.from)} → ${code(survivor.to)}`;
    const reason = findReason(survivor, explanations) ?? 'Not explained.';
    return `| ${place} | ${change} | ${reason} |`;
  });
  return [`### ${area}`, '', '| Where | Mutant | Why it lives |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** Formats any text as code in a table's cell. */
function code(text: string): string {
  if (text === '') return 'nothing';
  const fence = text.includes('`') ? '``' : '`';
  const pad = fence.length > 1 ? ' ' : '';
  return `${fence}${pad}${text.replaceAll('|', '\\|')}${pad}${fence}`;
}
