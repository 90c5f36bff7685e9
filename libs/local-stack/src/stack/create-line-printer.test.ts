import { expect, test } from '@jest/globals';
import { readableRecord } from './create-line-printer.ts';

const record = (fields: object) =>
  JSON.stringify({ level: 'info', time: new Date(2026, 10, 22, 8, 16, 41, 344), service: 'api', ...fields });

test('a log record becomes one line: time of day, level, message, the other fields', () => {
  const text = readableRecord(record({ msg: 'api listens', port: 8080, names: ['a'], address: '127.0.0.1' }));
  expect(text).toMatch(/^08:16:41 info {2}api listens port=8080 names=\["a"\] address=127\.0\.0\.1$/);
});

test('an error is named, and only errors show a stack', () => {
  const err = { type: 'TypeError', message: 'no such thing', stack: 'TypeError: no such thing\n    at here' };
  expect(readableRecord(record({ level: 'warn', msg: 'oh', err }))).toMatch(/warn {2}oh TypeError: no such thing$/);
  expect(readableRecord(record({ level: 'error', msg: 'oh', err }))).toContain('\n    at here');
});

test.each(['plain text', '{ "no": "record" }', '{ broken'])(
  'a line that is no log record stays as it is: %s',
  (line) => {
    expect(readableRecord(line)).toBe(line);
  },
);
