import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { catalogueDocument } from '../bin/catalogue-document.ts';
import { errorsMarkdown } from '../bin/errors-markdown.ts';
import { endpoints } from './catalogue/endpoints.ts';
import { type ErrorCode, errorCodes, isCatalogueCode, rowOf, throwableCodes } from './catalogue.ts';
import { locales } from './locales.ts';

const specificationUrl = new URL('../../../docs/specification/', import.meta.url);
const rowsUrl = new URL('catalogue/specified-rows.txt', import.meta.url);
const docsUrl = new URL('../../../docs/errors.md', import.meta.url);
const jsonUrl = new URL('../catalogue.json', import.meta.url);

/** Returns the rows that the form matches in the file of specified rows. */
const specified = (form: RegExp) => [...readFileSync(rowsUrl, 'utf8').matchAll(form)];

const ownRows = errorCodes.filter(isCatalogueCode).map((code) => {
  const { grpc, http, meaning, reactionText } = rowOf(code);
  return { code, grpc: { ...grpc }, http, meaning, reactionText };
});

describe('the table and the specified rows', () => {
  // guarantees: error-catalogue
  test('the table has the 35 specified rows, word for word and in the same order', () => {
    const form = /^([A-Z]{3}_[A-Z_]+) \| ([A-Z_]+) \((\d+)\) \| (\d+) \| (.+?) \| (.+)$/gm;
    const rows = specified(form).map(([, code, name, number, http, meaning, reactionText]) => ({
      code,
      grpc: { name, number: Number(number) },
      http: Number(http),
      meaning,
      reactionText,
    }));
    expect(rows).toHaveLength(35);
    expect(ownRows).toEqual(rows);
  });

  test('the table has the specified endpoint codes, with the same statuses and details', () => {
    const rows = specified(/^(ERR-[A-Z-]+) \| (\d+)(?: or (\d+))?(?: \| (.*))?$/gm);
    const sorted = (statuses: readonly unknown[]) => statuses.map(Number).sort();
    const own = Object.keys(endpoints).map((code) => {
      const { http, httpAlternatives = [], details } = rowOf(code as ErrorCode);
      const fields = typeof details === 'object' ? Object.entries(details) : [];
      const names = fields.map(([name, type]) => `${name}${String(type).endsWith('?') ? '?' : ''}`);
      return [code, sorted([http, ...httpAlternatives]), names.join(', ')];
    });
    expect(own).toEqual(
      rows.map(([, code, first, second, details = '']) => [code, sorted([first, second].filter(Boolean)), details]),
    );
  });

  test('the table has every ERR code of the specification’s pages', () => {
    const names = readdirSync(specificationUrl);
    const pages = names.map((name) => readFileSync(new URL(name, specificationUrl), 'utf8'));
    const codes = [...new Set(pages.join('\n').match(/ERR(?:-[A-Z]+)+/g))];
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !(code in endpoints))).toEqual([]);
  });
});

describe('the table and its copies', () => {
  test('catalogue.json is what the table generates', () => {
    expect(readFileSync(jsonUrl, 'utf8')).toBe(catalogueDocument());
  });

  test('docs/errors.md is what the table generates', () => {
    expect(readFileSync(docsUrl, 'utf8')).toBe(errorsMarkdown());
  });

  test('catalogue.json holds every code with both languages', () => {
    const { codes } = JSON.parse(readFileSync(jsonUrl, 'utf8')) as { codes: { code: string; messages: object }[] };
    expect(codes.map(({ code }) => code)).toEqual(errorCodes);
    for (const { messages } of codes) expect(Object.keys(messages)).toEqual(Object.keys(locales));
  });
});

describe('the rows', () => {
  test('every row but the notice can be thrown', () => {
    expect(errorCodes.filter((code) => !throwableCodes.some((throwable) => throwable === code))).toEqual([
      'INV_STOCK_MASKED_MINUS',
    ]);
  });

  test('rows have a challenge exactly where the status is 401', () => {
    const challenged = errorCodes.filter((code) => rowOf(code).challenge !== undefined);
    expect(challenged).toEqual(errorCodes.filter((code) => rowOf(code).http === 401));
  });

  test('every row with status 429 or 503 names a pause', () => {
    const busy = errorCodes.filter((code) => [429, 503].includes(rowOf(code).http));
    expect(busy).toHaveLength(5);
    for (const code of busy) expect(rowOf(code).retryAfterSeconds).toBeGreaterThanOrEqual(1);
  });

  test('rows store only statuses that the canonical mapping of gRPC would not give', () => {
    const mapping: Readonly<Record<number, number>> = {
      0: 200,
      1: 499,
      3: 400,
      4: 504,
      5: 404,
      6: 409,
      7: 403,
      8: 429,
      9: 400,
      10: 409,
      11: 400,
      13: 500,
      15: 500,
      16: 401,
    };
    const differing = ownRows.filter(({ grpc, http }) => mapping[grpc.number] !== http);
    expect(differing).toHaveLength(14);
  });

  test('each endpoint code points to a row of the catalogue', () => {
    for (const code of errorCodes) {
      const { canonical } = rowOf(code);
      if (canonical !== undefined) expect(isCatalogueCode(canonical)).toBe(true);
    }
  });
});
