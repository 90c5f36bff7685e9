import { send } from '../../support/http-client.ts';

/** The commit that makes an upgrade after an await safe (pull request 1929), in uWebSockets v20.79.0 of 7 July 2026. */
const fix = 'fe7c01a';
/** The `process.versions.modules` of Node 24. */
const node24Modules = 137;

/** The base URLs of GitHub. */
export interface Hosts {
  readonly api: string;
  /** The base URL of repositories' files. */
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
 * Returns uWebSockets.js's newest releases, down to the first without the fix. A release's tag contains its binaries,
 * and in `source_commit` the commit from which they were built. That commit contains the commit of uWebSockets as a
 * submodule. Throws if GitHub does not answer.
 */
export async function findUpstreamReleases(hosts: Hosts = gitHub): Promise<readonly UpstreamRelease[]> {
  const tags = (await getJson(`${hosts.api}/repos/${bindings}/tags?per_page=30`)) as { readonly name: string }[];
  const releases: UpstreamRelease[] = [];
  for (const { name: tag } of tags) {
    const files = `${hosts.raw}/${bindings}/${tag}`;
    const source = (await getText(`${files}/source_commit`)).trim();
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

/** Sends a request with a User-Agent, because GitHub answers no client without a name. */
const ask = (method: string, url: string) =>
  send(url, { method, path: '', headers: { 'User-Agent': 'auth-account' }, signal: AbortSignal.timeout(limitMs) });

async function getText(url: string): Promise<string> {
  const { status, text } = await ask('GET', url);
  if (status !== 200) throw new Error(`${url} answers ${status}`);
  return text;
}

const getJson = async (url: string): Promise<unknown> => JSON.parse(await getText(url));

async function exists(url: string): Promise<boolean> {
  const { status } = await ask('HEAD', url);
  if (status !== 200 && status !== 404) throw new Error(`${url} answers ${status}`);
  return status === 200;
}
