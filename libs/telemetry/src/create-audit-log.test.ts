import { expect, test } from '@jest/globals';
import { createAuditLog, createLogger } from './create-logger.ts';

function linesAt(level: string): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  createAuditLog(createLogger({ service: 'api', level, destination }))({ event: 'logout', token: 'hunter2' });
  return lines.map((line) => JSON.parse(line));
}

test.each(['trace', 'info', 'error'])('at level %s a line is written, marked and without secrets', (level) => {
  expect(linesAt(level)).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      service: 'api',
      audit: true,
      event: 'logout',
      token: '[redacted]',
      msg: 'audit',
    },
  ]);
});

test('a silent service writes no audit line', () => {
  expect(linesAt('silent')).toEqual([]);
});
