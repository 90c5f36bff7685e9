import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type ImportFormat, type ReadLine, readRecords } from './read-records.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-read-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function read(text: string, format: ImportFormat): Promise<ReadLine[]> {
  const path = join(dir, 'users');
  await writeFile(path, text);
  const lines: ReadLine[] = [];
  for await (const line of readRecords(path, format, jest.fn())) lines.push(line);
  return lines;
}

const header = 'email,password_hash,account_type';
const good = (line: number) => ({ line, fields: { email: `${line}@e`, password_hash: 'h', account_type: 'HOME' } });
const bom = '\uFEFF';

describe('CSV files', () => {
  test.each([
    ['text behind a closed quote', '"a"b,h,HOME', 'no CSV'],
    ['text before a quote', 'a"b",h,HOME', 'no CSV'],
    ['quotes that balance over two fields', '"a,h",b"c,HOME', 'no CSV'],
    ['quotes that balance and leave the last one open', '"a"b,"h,"HOME"', 'no CSV'],
    ['an escaped quote in a quote that stays open', '"a""b"",h,HOME', 'a quote is not closed'],
    ['a quote that is never closed', 'a,h,"HOME', 'a quote is not closed'],
    ['too few fields', 'a,h', 'not as many fields'],
    ['too many fields', 'a,h,HOME,', 'not as many fields'],
  ])('a CSV file loses only the lines with %s, each reported once', async (_case, bad, why) => {
    const isBad = (line: number) => [2, 5, 6, 12].includes(line);
    const numbers = Array.from({ length: 11 }, (_, index) => index + 2);
    const lines = [header, ...numbers.map((line) => (isBad(line) ? bad : `"${line}@e",h,HOME`))];
    expect(await read(lines.join('\n'), 'csv')).toEqual(
      numbers.map((line) => (isBad(line) ? { line, reason: expect.stringContaining(why) } : good(line))),
    );
  });

  test('a CSV file may have a byte order mark, empty lines, spaces and either kind of line ends', async () => {
    const text = `${bom}\r\n Email , password_hash,"account_type"\r\n\n  \n "5@e" , h,HOME\n6@e,"h",HOME\r\n7@e,h,HOME`;
    expect(await read(text, 'csv')).toEqual([good(5), good(6), good(7)]);
  });

  test.each(['', '\n\n', bom, 'email,"password_hash,account_type', '"email"x,password_hash,account_type'])(
    'a CSV file needs a header: %j has none',
    async (text) => {
      await expect(read(text, 'csv')).rejects.toThrow('The first line must name the columns');
    },
  );
});

describe('JSON Lines files', () => {
  test('a JSON Lines file may have a byte order mark, and loses no line by it', async () => {
    const text = `${bom}${JSON.stringify(good(1).fields)}\n${JSON.stringify(good(2).fields)}\n`;
    expect(await read(text, 'jsonl')).toEqual([good(1), good(2)]);
  });
});
