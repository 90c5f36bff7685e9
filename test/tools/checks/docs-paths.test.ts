import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { anchorsOf, findBrokenCitations } from './citations.ts';
import { findUnknownNames } from './table-names.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/** Pages in which every code span that looks like a path must name a path of the repository. */
const pathPages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/adding-a-route.md',
  'docs/operations.md',
  'docs/releasing.md',
  'docs/testing.md',
];
const docsPages = globSync('docs/**/*.md');
/** Every file that a clone has. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => existsSync(path));
/** Pages whose links to files and headings must have a target. */
const linkPages = files.filter((path) => path.endsWith('.md'));

/** A comment with good citations, and broken ones. */
const comment = `/**
 * Good: docs/push.md, "Frames"; (docs/push.md ("Frames", "Close codes")); docs/push.md#frames; push.md; ADR 0002;
 * RFC 6455, section 4.4; (NIST SP 800-63B-4, section 3.2.2); https://example.com/docs/elsewhere.md; (docs/push.md,
 * "Close codes"); a link in a string, '[operations](../operations.md)'; a file name, 'unknown.md'.
 *
 * Broken: docs/no-such-page.md. Outside: ../spec/family.md. Headings: docs/push.md, "Frames of old";
 * docs/push.md ("Frames", "Gone"). An anchor: docs/push.md#frames-of-old. One that is broken: docs/push.md, "Broken
 * over lines". No files: (decisions, "Guessing"; decisions, "Tokens"), a model of decisions,
 * "Refresh", (specification, POST /api/v1/auth/register), named in the specification, "Groups", (docs/adr/0004). ADR 9999.
 */
`;

const pathForm = /`((?:libs|services|test|docs|charts|k8s|\.ci)\/[\w./-]*)(?::\d+)?`/g;
const pathsIn = (page: string) => [...page.matchAll(pathForm)].map(([, path = '']) => path);

/** Returns the links of a page outside code, without web addresses. */
function linksIn(page: string): string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^\w+:/.test(link));
}

function isGood(link: string, from: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : `.${new URL(file, `file:///${from}`).pathname}`;
  if (!existsSync(target)) return false;
  if (anchor === undefined || statSync(target).isDirectory()) return true;
  return anchorsOf(read(target)).has(anchor);
}

describe('names of files, headings and rules in pages', () => {
  test.each(pathPages)('paths in %s exist', (page) => {
    const paths = pathsIn(read(page));
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test.each(linkPages)('links in %s lead to existing files and headings', (page) => {
    expect(linksIn(read(page)).filter((link) => !isGood(link, page))).toEqual([]);
  });

  test('each page of docs/ is in the index by reader, or in a folder that is', () => {
    const index = read('docs/README.md');
    const isIndexed = (page: string) => index.includes(`](${page.slice('docs/'.length)}`);
    const isInIndexedFolder = (page: string) =>
      ['runbooks', 'adr', 'specification'].some((folder) => page.startsWith(`docs/${folder}/`));
    const missing = docsPages.filter(
      (page) => page !== 'docs/README.md' && !isIndexed(page) && !isInIndexedFolder(page),
    );
    expect(missing).toEqual([]);
  });

  test('the tests that break first after an upgrade run in pull requests of Renovate, which points to their list', () => {
    const heading = 'After an upgrade, look here';
    const [, list = ''] = read('CONTRIBUTING.md').split(`### ${heading}`);
    const tests = pathsIn(list).filter((path) => path.endsWith('.test.ts'));
    expect(tests.length).toBeGreaterThan(0);
    // `npm test` and `npm run test:system` run all others.
    expect(tests.filter((path) => path.startsWith('test/tools/'))).toEqual([]);
    const workflow = read('.github/workflows/ci.yml');
    for (const part of ['branches: ["**"]', '.ci/run', 'npm run test:system']) expect(workflow).toContain(part);
    expect(read('.github/renovate.json')).toContain(heading);
  });

  test('a missing path and a missing heading are found', () => {
    expect(pathsIn('see `libs/nothing/src/gone.ts`').filter((path) => !existsSync(path))).toEqual([
      'libs/nothing/src/gone.ts',
    ]);
    expect(isGood('operations.md#no-such-heading', 'docs/README.md')).toBe(false);
    expect(isGood('operations.md#install', 'docs/README.md')).toBe(true);
  });

  test('a citation of something outside, or of a missing heading, is found', () => {
    expect(findBrokenCitations(comment, 'libs/stores/src/example.ts')).toEqual([
      'docs/no-such-page.md: there is no such page',
      '../spec/family.md: there is no such page',
      'docs/push.md, "Frames of old": no such heading',
      'docs/push.md ("Frames", "Gone": no such heading',
      'docs/push.md#frames-of-old: no such anchor',
      'docs/push.md, "Broken over lines": no such heading',
      '(decisions, "Guessing": names no file',
      '; decisions, "Tokens": names no file',
      'of decisions, "Refresh": names no file',
      '(specification,: names no file',
      'in the specification, "Groups": names no file',
      'docs/adr/0004: there is no such file',
      'ADR 9999: there is no such ADR',
    ]);
  });
});

test('a missing rule and a missing event are found, and existing ones are not', () => {
  const page =
    '`move_account`, `unknown_account`, `stray_account`, `group.left`, `group.lost`, `details.lost`, `device_id`';
  expect(findUnknownNames(page)).toEqual(['stray_account', 'group.lost']);
});
