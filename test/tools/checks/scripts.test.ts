import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as generate from '../generate/generators.ts';
import * as check from './checks.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const readJson = <T>(path: string): T => JSON.parse(read(path));
const scriptsIn = (manifest: string) => readJson<{ scripts?: Record<string, string> }>(manifest).scripts ?? {};

const scripts = scriptsIn('package.json');

/** Scripts that are run in the directory of one package. */
const packageScripts = ['libs/errors', 'libs/contracts', 'libs/client'].flatMap((path) =>
  Object.keys(scriptsIn(`${path}/package.json`)),
);

/** The names that a script accepts as an argument, for scripts that take one. */
const namesOf: Readonly<Record<string, readonly string[]>> = {
  bench: Object.keys(readJson<object>('test/tools/bench/programs.json')),
  check: Object.keys({ ...check.checks, ...check.onRequest }),
  generate: Object.keys({ ...generate.generators, ...generate.onRequest }),
  'test:long': Object.keys(readJson<object>('test/tools/long-tests.json')),
};

/** Returns the files in which people read commands, which are the pages, and the programs with their comments. */
function readers(): string[] {
  const forms = '{docs,charts,k8s,libs,services,test}/**/*.{md,ts,mjs,sh,yaml,yml,mod}';
  const own = globSync(forms, { exclude: (name) => name === 'node_modules' });
  const others = own.filter((path) => path !== 'test/tools/checks/scripts.test.ts');
  return ['README.md', 'CONTRIBUTING.md', '.ci/run', ...others];
}

/** Matches `npm run NAME` and, for a script that takes a name, the word after it. */
const mentionForm = /npm run (?:--silent )?([a-z][\w:-]*)(?: ([a-z][\w-]*)\b(?=[`'" ]))?/g;

/** Returns why a mention of a script is wrong; undefined if it is right. */
function findFault([, script = '', name]: readonly (string | undefined)[]): string | undefined {
  if (packageScripts.includes(script)) return undefined;
  if (scripts[script] === undefined) return `there is no script ${script}`;
  const names = namesOf[script];
  const isWrong = names !== undefined && name !== undefined && !names.includes(name);
  return isWrong ? `${script} knows no ${name}` : undefined;
}

describe('the scripts of package.json', () => {
  test('the scripts of package.json are twenty at most', () => {
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(20);
  });

  test('every script that a page or a comment names exists, with the name that it takes', () => {
    const mentions = readers().flatMap((path) =>
      [...read(path).matchAll(mentionForm)].map((mention) => ({
        path,
        mention: mention[0],
        fault: findFault(mention),
      })),
    );
    expect(mentions.length).toBeGreaterThan(60);
    expect(mentions.filter(({ fault }) => fault !== undefined)).toEqual([]);
  });

  test('a mention of a missing script would be found', () => {
    expect(findFault([...'npm run test:zombies`'.matchAll(mentionForm)][0] ?? [])).toContain('no script');
    expect(findFault([...'`npm run check typos`'.matchAll(mentionForm)][0] ?? [])).toContain('knows no typos');
  });
});
