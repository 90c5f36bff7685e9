import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { CsvError, parse } from 'csv-parse/sync';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { importFields, requiredFields } from './parse-import-record.ts';

export const importFormats = ['csv', 'jsonl'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** Fields of a line, or its fault. */
export type ReadLine = { readonly line: number } & (
  | { readonly fields: Readonly<Record<string, unknown>> }
  | { readonly reason: string }
);

/** Returns the format of a file by its name. Throws a `CommandError` if the format is unknown. */
export function formatOf(path: string): ImportFormat {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === 'csv') return 'csv';
  if (['jsonl', 'ndjson'].includes(extension)) return 'jsonl';
  throw new CommandError('The name ends neither in .csv nor in .jsonl: give --format.', { exitCode: exitCodes.usage });
}

/** Reads a file line by line without keeping the lines. Calls `onBytes` with the number of bytes read. */
export async function* readRecords(
  path: string,
  format: ImportFormat,
  onBytes: (count: number) => void,
): AsyncGenerator<ReadLine> {
  const input = createReadStream(path);
  input.on('data', (chunk) => onBytes(chunk.length));
  try {
    const lines = numberLines(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }));
    yield* format === 'csv' ? readCsv(lines) : readJsonLines(lines);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CommandError(`${path} cannot be read (${code}).`, { cause: error });
  } finally {
    input.destroy();
  }
}

interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/** Yields non-empty lines, without a byte order mark before the first. */
async function* numberLines(lines: AsyncIterable<string>): AsyncGenerator<NumberedLine> {
  let line = 0;
  for await (const raw of lines) {
    line += 1;
    const text = line === 1 ? raw.replace(/^\uFEFF/, '') : raw;
    if (text.trim() !== '') yield { line, text };
  }
}

async function* readJsonLines(lines: AsyncIterable<NumberedLine>): AsyncGenerator<ReadLine> {
  for await (const { line, text } of lines) yield { line, ...parseLine(text) };
}

function parseLine(text: string): { fields: Record<string, unknown> } | { reason: string } {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { fields: value as Record<string, unknown> } : { reason: 'the line is no JSON object' };
  } catch (error) {
    // The parser's own message is not used, because it quotes the line, including the hash.
    if (error instanceof SyntaxError) return { reason: 'the line is no JSON' };
    throw error;
  }
}

/** Reads CSV. Each line is one record and is parsed by itself, so that a stray quote affects only its own line. */
async function* readCsv(lines: AsyncIterable<NumberedLine>): AsyncGenerator<ReadLine> {
  let columns: string[] | undefined;
  for await (const { line, text } of lines) {
    if (columns === undefined) columns = readHeader(text);
    else yield { line, ...parseRow(text, columns) };
  }
  if (columns === undefined) throw headerFault();
}

/** The delimiter of records is set, because detecting it takes longer than parsing the records. */
const csvOptions = { trim: true, record_delimiter: '\n' } as const;

function readHeader(text: string): string[] {
  const names = splitHeader(text).map((name) => name.toLowerCase());
  const unknown = names.filter((name) => !(importFields as readonly string[]).includes(name));
  const missing = requiredFields.filter((name) => !names.includes(name));
  const isDouble = new Set(names).size < names.length;
  if (unknown.length > 0 || missing.length > 0 || isDouble) throw headerFault();
  return names;
}

function splitHeader(text: string): string[] {
  try {
    return parse(text, csvOptions).flat();
  } catch (error) {
    if (error instanceof CsvError) throw headerFault(error);
    throw error;
  }
}

function headerFault(cause?: CsvError): CommandError {
  const must = `The first line must name the columns ${requiredFields.join(', ')}, and may name created_at and group, once each`;
  return new CommandError(`${must}.`, { exitCode: exitCodes.usage, cause });
}

function parseRow(text: string, columns: string[]): { fields: Record<string, string> } | { reason: string } {
  try {
    const [fields = {}] = parse<Record<string, string>>(text, { ...csvOptions, columns });
    return { fields };
  } catch (error) {
    if (error instanceof CsvError) return { reason: reasonOf(error) };
    throw error;
  }
}

function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed';
  const isCount = code === 'CSV_RECORD_INCONSISTENT_COLUMNS';
  return isCount ? 'the line has not as many fields as the first one' : `the line is no CSV (${code})`;
}
