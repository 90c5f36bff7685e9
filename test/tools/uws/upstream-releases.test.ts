import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { findUpstreamReleases, type Hosts } from './upstream-releases.ts';

/** Runs the work with a stand-in for GitHub that has these answers by path. Every other path is answered with 404. */
async function withGitHub<T>(
  answers: Readonly<Record<string, unknown>>,
  work: (hosts: Hosts) => Promise<T>,
): Promise<T> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.statusCode = answer === undefined ? 404 : 200;
    response.setHeader('connection', 'close').end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await work({ api: `${host}/api`, raw: `${host}/raw` });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const api = '/api/repos/uNetworking';
const release = (tag: string, status: string, files: readonly string[] = []) => ({
  [`/raw/uNetworking/uWebSockets.js/${tag}/source_commit`]: `source-${tag}\n`,
  [`${api}/uWebSockets.js/contents/uWebSockets?ref=source-${tag}`]: { sha: `library-${tag}` },
  [`${api}/uWebSockets/compare/fe7c01a...library-${tag}`]: { status },
  ...Object.fromEntries(files.map((file) => [`/raw/uNetworking/uWebSockets.js/${tag}/${file}`, 'binary'])),
});
const tags = (...names: readonly string[]) => ({
  [`${api}/uWebSockets.js/tags?per_page=30`]: names.map((name) => ({ name })),
});

test('a release has the fix if its base comes after it, and releases before the first without are not asked', async () => {
  const answers = {
    ...tags('v4', 'v3', 'v2', 'v1'),
    ...release('v4', 'ahead', ['uws_linux_x64_137.node']),
    ...release('v3', 'identical'),
    ...release('v2', 'behind', ['uws_linux_x64_137.node']),
  };
  expect(await withGitHub(answers, findUpstreamReleases)).toEqual([
    { tag: 'v4', hasFix: true, runsOnNode24: true },
    { tag: 'v3', hasFix: true, runsOnNode24: false },
    { tag: 'v2', hasFix: false, runsOnNode24: true },
  ]);
});

test('a malformed answer is an error, not a release without the fix', async () => {
  await expect(withGitHub(tags('v4'), findUpstreamReleases)).rejects.toThrow(/source_commit answers 404/);
});
