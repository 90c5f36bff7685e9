import { describe, expect, test } from '@jest/globals';
import { createLogger } from './create-logger.ts';

function createCapture() {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'api',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { logger, lines };
}

describe('the logger', () => {
  test('the logger writes one JSON line with ISO time, level name and service', () => {
    const { logger, lines } = createCapture();
    logger.warn({ count: 2 }, 'slow');
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'api',
      count: 2,
      msg: 'slow',
    });
  });

  test('the logger leaves out lines below its level', () => {
    const { logger, lines } = createCapture();
    logger.debug('small');
    expect(lines).toEqual([]);
  });

  test.each([
    { password: 'hunter2' },
    { body: { password: 'hunter2', email: 'a@b.c' } },
    { user: { password_hash: 'hunter2' } },
    { data: { access_token: 'hunter2', refresh_token: 'hunter2' } },
    { token: 'hunter2' },
    { subscriber: { secret: 'hunter2' } },
    { headers: { authorization: 'Bearer hunter2', cookie: 'hunter2' } },
    { req: { headers: { authorization: 'Bearer hunter2', 'sec-websocket-protocol': 'bearer, hunter2' } } },
    { res: { headers: { 'set-cookie': 'hunter2' } } },
  ])('the logger never writes the secrets of %j', (fields) => {
    const { logger, lines } = createCapture();
    logger.info(fields, 'line');
    expect(lines[0]).toContain('[redacted]');
    expect(lines[0]).not.toContain('hunter2');
  });

  test('the logger leaves the logged object itself as it was', () => {
    const { logger } = createCapture();
    const body = { password: 'hunter2' };
    logger.info({ body });
    expect(body.password).toBe('hunter2');
  });
});
