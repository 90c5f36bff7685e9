import { readFileSync } from 'node:fs';
import { parseRedisAddress } from './redis-address.ts';

interface Problem {
  readonly path: '';
  readonly message: string;
}

/** Checks the variables with Redis's address, before anything is opened. No message repeats a value. */
export const redisChecks = {
  address: (value: unknown): Problem[] =>
    problemsOf(
      () => parseRedisAddress(String(value)),
      ({ message }) => message.replace(/^REDIS_URL: /, ''),
    ),
  file: (value: unknown): Problem[] =>
    problemsOf(
      () => readFileSync(String(value)),
      ({ code }) => `the file cannot be read (${code})`,
    ),
};

function problemsOf(attempt: () => unknown, describe: (error: NodeJS.ErrnoException) => string): Problem[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [{ path: '', message: describe(error as NodeJS.ErrnoException) }];
  }
}
