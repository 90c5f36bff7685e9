/** Commit that makes an upgrade after an await safe (pull request 1929), in uWebSockets v20.79.0 of 7 July 2026. */
const fix = 'fe7c01a';
/** `process.versions.modules` of Node 24. */
const node24Modules = 137;

/** Addresses of GitHub. */
export interface Hosts {
  readonly api: string;
  /** Files of a repository. */
  readonly raw: string;
}

const gitHub: Hosts = { api: 'https://api.github.com', raw: 'https://raw.githubusercontent.com' };

export interface UpstreamRelease {
  readonly tag: string;
  readonly hasFix: boolean;
  readonly runsOnNode24: boolean;
}

const bindings = 'uNetworking/uWebSockets.js';
const limitMs = 10_000;

/**
 * Returns uWebSockets.js's newest releases, down to the first without the fix. A release's tag holds its binaries, and
 * in `source_commit` the commit that they were built from; that one names the commit of uWebSockets. Throws if GitHub
 * does not answer.
 */
export async function findUpstreamReleases(hosts: Hosts = gitHub): Promise<readonly UpstreamRelease[]> {
  const tags = (await getJson(`${hosts.api}/repos/${bindings}/tags?per_page=30`)) as { readonly name: string }[];
  const releases: UpstreamRelease[] = [];
  for (const { name: tag } of tags) {
    const files = `${hosts.raw}/${bindings}/${tag}`;
    const source = (await (await get(`${files}/source_commit`)).text()).trim();
    const library = (await getJson(`${hosts.api}/repos/${bindings}/contents/uWebSockets?ref=${source}`)) as {
      readonly sha: string;
    };
    const compared = (await getJson(`${hosts.api}/repos/uNetworking/uWebSockets/compare/${fix}...${library.sha}`)) as {
      readonly status: string;
    };
    const hasFix = compared.status === 'ahead' || compared.status === 'identical';
    releases.push({ tag, hasFix, runsOnNode24: await exists(`${files}/uws_linux_x64_${node24Modules}.node`) });
    if (!hasFix) break;
  }
  return releases;
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limitMs) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response;
}

const getJson = async (url: string): Promise<unknown> => (await get(url)).json();

async function exists(url: string): Promise<boolean> {
  const { status } = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(limitMs) });
  if (status !== 200 && status !== 404) throw new Error(`${url} answers ${status}`);
  return status === 200;
}
