import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'stack-traces-'));
afterAll(() => rmSync(folder, { recursive: true }));

const mapStackTraces = new URL('map-stack-traces.ts', import.meta.url).href;

function run(...args: string[]): string {
  return spawnSync(process.execPath, args, { encoding: 'utf8', env: {} }).stdout;
}

describe('first lines of errors', () => {
  const errors = `
    const fs = await import('node:fs');
    const net = await import('node:net');
    class Own extends Error { name = 'Own'; code = 'ERR_OWN'; }
    const throwing = [
      () => Buffer.from(7),
      () => net.connect(70_000),
      () => fs.readFileSync('/none'),
      () => import('none'),
      () => new URL('none'),
      () => AbortSignal.abort().throwIfAborted(),
      () => { throw new Own('x'); },
      () => { throw Object.assign(new Error('x'), { code: 'ERR_OTHER' }); },
    ];
    for (const one of throwing) try { await one(); } catch (error) { console.log(error.stack.split('\\n')[0]); }
  `;
  const lines = (...args: string[]) =>
    run(...args, '--input-type=module', '--eval', errors)
      .trim()
      .split('\n');
  const expected = lines();

  test('the first line of an error is the same as without maps, for Node’s, V8’s and programs’ errors', () => {
    expect(expected).toHaveLength(8);
    expect(expected[0]).toMatch(/^TypeError \[ERR_INVALID_ARG_TYPE\]: /);
    expect(lines('--import', mapStackTraces)).toEqual(expected);
  });
});

describe('frames of a stack', () => {
  const map = { version: 3, sources: ['source.ts'], names: [], mappings: 'AASA' };

  test.each([
    ['names the source by the map', JSON.stringify(map), 'source.ts:10:1'],
    ['stays as it is if the map is cut off', JSON.stringify(map).slice(0, -5), 'bundle.js:1:20'],
    ['stays as it is if the map lacks the source', JSON.stringify({ ...map, sources: [] }), 'bundle.js:1:20'],
  ])('a frame %s', (_, text, place) => {
    writeFileSync(join(folder, 'bundle.js'), 'console.log(String(new Error("x").stack))');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'bundle.js.map'), text);
    expect(run('--import', mapStackTraces, join(folder, 'bundle.js')).split('\n')[1]).toContain(place);
  });
});
