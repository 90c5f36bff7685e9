import { readdirSync, readFileSync } from 'node:fs';
import { ConfigError, loadConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { expect, test } from '@jest/globals';
import { components, variables } from '../chart/component-variables.ts';
import { configurationSections } from './configuration-page.ts';

const root = new URL('../../../', import.meta.url);

function sourcesBelow(folder: string): string[] {
  const files = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.(ts|mjs)$/.test(file)).map((file) => `${folder}/${file}`);
}

const rowNames = (sections: string) => [...sections.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, name = '']) => name);

test('each variable has one row, whichever services read it', () => {
  const names = rowNames(configurationSections());
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

const addresses = components
  .flatMap((component) => variables[component].map(({ name, schema }) => [name, schema] as const))
  .filter(([name]) => /_(URI|URL)$|^TOKEN_ISSUER$/.test(name));

test.each([...new Map(addresses)])(
  '%s is checked with the configuration, and what came is not shown',
  (name, schema) => {
    const wrong = ['http://[hunter2', 'wss://[hunter2', 'mongodb://user:hunter2@x@y', 'redis://user:hunter2%@y'];
    for (const value of wrong) {
      const load = () => loadConfig(Type.Object({ [name]: schema as Type.TSchema }), { env: { [name]: value } });
      expect(load).toThrow(ConfigError);
      if (schema.secret) expect(load).not.toThrow('hunter2');
    }
  },
);

test('every variable of the local stack that its sources read has a row', () => {
  const sources = sourcesBelow('libs/local-stack/src').map((file) => readFileSync(new URL(file, root), 'utf8'));
  const read = new Set(sources.flatMap((source) => source.match(/\bLOCAL_[A-Z_]+\b/g) ?? []));
  expect(read.size).toBeGreaterThan(4);
  expect([...read].filter((name) => !rowNames(configurationSections()).includes(name))).toEqual([]);
});
