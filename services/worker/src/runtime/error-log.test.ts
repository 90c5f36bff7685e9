import { createLogger } from '@auth-account/telemetry';
import { expect, test } from '@jest/globals';
import { createErrorLog } from './error-log.ts';

test('the same error is logged once a minute, and another one at once', () => {
  const lines: { msg: string; err: { message: string }; queue?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  let now = 0;
  const log = createErrorLog(createLogger({ service: 'test', level: 'info', destination }), 'relay', () => now);
  log(new Error('away'), { queue: 'q' });
  log(new Error('away'));
  log(new Error('other'));
  now = 59_999;
  log(new Error('away'));
  now = 60_000;
  log(new Error('away'));
  expect(lines.map(({ err }) => err.message)).toEqual(['away', 'other', 'away']);
  expect(lines[0]).toMatchObject({ level: 'warn', msg: 'relay', queue: 'q' });
});
