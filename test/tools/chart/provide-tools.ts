import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { withFolder } from '../with-folder.ts';
import { cacheFolder } from './cache-folder.ts';
import { run } from './run.ts';

/** The programs, each with its Go module, the module's checksum (as in go.sum), and the package in it. */
const programs = {
  helm: ['helm.sh/helm/v3@v3.21.3', 'h1:wkamdwI3liEkW6wI1l9aGqQZGxcTKyt8kx0qJLPcmCg=', './cmd/helm'],
  'helm-unittest': [
    'github.com/helm-unittest/helm-unittest@v1.1.2',
    'h1:r1Ah6Pr3h4kqvd65RN+r0FNTIGrJa+P9rcMyzwHEXXQ=',
    './cmd/helm-unittest',
  ],
  kubeconform: [
    'github.com/yannh/kubeconform@v0.8.0',
    'h1:loDYd3a3spjIFrauqW67CDKF55Oo9R6uvC8AvpVd4ug=',
    './cmd/kubeconform',
  ],
  actionlint: [
    'github.com/rhysd/actionlint@v1.7.12',
    'h1:vQ4GeJN86C0QH+gTUQcs8McmK62OLT3kmakPMtEWYnY=',
    './cmd/actionlint',
  ],
  'kube-score': [
    'github.com/zegl/kube-score@v1.20.0',
    'h1:J1VqK86SunV4Gg8emPTmwUVxe0rmXnAs5K9ZUbGMKR8=',
    './cmd/kube-score',
  ],
} as const;

type Tool = keyof typeof programs;

/** Thrown if a program is missing and can't be built here. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

const cacheOf = (tool: Tool) => cacheFolder(`tools/${programs[tool][0].replaceAll('/', '-')}`, []);

/** Returns the path of a program. `CHART_TOOLS` names additional folders, which are searched before the PATH. */
function findTool(tool: Tool): string | undefined {
  const { CHART_TOOLS = '', PATH = '' } = process.env;
  const folders = [...CHART_TOOLS.split(delimiter), ...PATH.split(delimiter), cacheOf(tool)];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, tool))
    .find(existsSync);
}

/** Builds the program in a copy of its module, whose own go.sum has the checksums of its dependencies. */
async function buildTool(tool: Tool, log: (line: string) => void): Promise<string> {
  const [module, sum, main] = programs[tool];
  const cache = cacheOf(tool);
  const start = performance.now();
  log(`building ${tool} by Go …`);
  // The machine's own GOFLAGS could forbid what is needed here. `-s -w` leaves out data for debuggers.
  const env = { ...process.env, GOBIN: cache, GOFLAGS: '-mod=readonly -buildvcs=false -trimpath -modcacherw' };
  const go = async (cwd: string, ...args: string[]) => {
    const { isRight, output, stdout } = await run('nice', ['go', ...args], { cwd, env });
    if (isRight) return stdout;
    const advice = `Install ${tool}, or Go 1.21 or later with access to a Go module proxy.`;
    throw new ToolError(`${tool} is not on the PATH and could not be built. ${advice}\n${output.slice(-2_000)}`);
  };
  await withFolder('tool', async (copy) => {
    const { Dir, Sum } = JSON.parse(await go(copy, 'mod', 'download', '-json', module)) as { Dir: string; Sum: string };
    if (Sum !== sum) throw new Error(`${module} has the checksum ${Sum}, not ${sum}`);
    await cp(Dir, copy, { recursive: true });
    await go(copy, 'install', '-ldflags=-s -w', main);
  });
  log(`built ${tool} in ${((performance.now() - start) / 1_000).toFixed(0)} s`);
  return join(cache, tool);
}

/**
 * Returns the programs of a check, from `CHART_TOOLS`, the PATH, or the cache. Missing programs are built by Go, one
 * after another, because they share packages. Throws ToolError.
 */
export async function provideTools<T extends Tool>(tools: readonly T[], log: (line: string) => void) {
  const found: [T, string][] = [];
  for (const tool of tools) found.push([tool, findTool(tool) ?? (await buildTool(tool, log))]);
  return Object.fromEntries(found) as Record<T, string>;
}
