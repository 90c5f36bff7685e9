import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import { run } from '../run.ts';

/** The programs, each with the local Go module that pins its version and its dependencies' checksums. */
const modules = {
  helm: { folder: 'helm', source: 'helm.sh/helm/v3/cmd/helm' },
  'helm-unittest': { folder: 'helm', source: 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest' },
  kubeconform: { folder: 'helm', source: 'github.com/yannh/kubeconform/cmd/kubeconform' },
  'kube-score': { folder: 'kube-score', source: 'github.com/zegl/kube-score/cmd/kube-score' },
} as const;

export type Tool = keyof typeof modules;
export type Tools = Readonly<Record<Tool, string>>;

/** Thrown if a program is missing and can't be built here. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

function moduleFolder(tool: Tool): URL {
  return new URL(`${modules[tool].folder}/`, import.meta.url);
}

function cacheOf(tool: Tool): string {
  const folder = moduleFolder(tool);
  return cacheFolder('tools', [new URL('go.mod', folder), new URL('go.sum', folder)]);
}

/** Returns the path of a program. `CHART_TOOLS` names additional folders, which are searched before the PATH. */
function findTool(tool: Tool): string | undefined {
  const { CHART_TOOLS = '', PATH = '' } = process.env;
  const folders = [...CHART_TOOLS.split(delimiter), ...PATH.split(delimiter), cacheOf(tool)];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, tool))
    .find(existsSync);
}

async function buildTool(tool: Tool, log: (line: string) => void): Promise<string> {
  const cache = cacheOf(tool);
  await mkdir(cache, { recursive: true });
  const start = performance.now();
  log(`building ${tool} by go install …`);
  // The machine's own GOFLAGS could forbid what is needed here. `-s -w` leaves out data for debuggers.
  const env = { ...process.env, GOBIN: cache, GOFLAGS: '-mod=readonly -buildvcs=false -trimpath' };
  const args = ['go', 'install', '-ldflags=-s -w', modules[tool].source];
  const { isRight, output } = await run('nice', args, { cwd: fileURLToPath(moduleFolder(tool)), env });
  if (!isRight) {
    const advice = `Install ${tool}, or Go 1.21 or later with access to a Go module proxy.`;
    throw new ToolError(`${tool} is not on the PATH and could not be built. ${advice}\n${output.slice(-2_000)}`);
  }
  log(`built ${tool} in ${((performance.now() - start) / 1_000).toFixed(0)} s`);
  return join(cache, tool);
}

/**
 * Returns the programs of the check, from `CHART_TOOLS`, the PATH, or the cache. Missing programs are built by `go
 * install` in the versions of the local `go.mod` files, one after another, because they share most of their packages.
 * Throws ToolError.
 */
export async function provideTools(log: (line: string) => void): Promise<Tools> {
  const found: [Tool, string][] = [];
  for (const tool of Object.keys(modules) as Tool[]) found.push([tool, findTool(tool) ?? (await buildTool(tool, log))]);
  return Object.fromEntries(found) as Record<Tool, string>;
}
