import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { parseRedisAddress } from './redis-address.ts';

interface Problem {
  readonly path: '';
  readonly message: string;
}

type Variables = Readonly<Record<string, unknown>>;

/** Checks the variables for the connection to Redis before anything is opened. No message repeats a value. */
export const redisChecks = {
  address: (value: unknown): Problem[] =>
    problemsOf(
      () => parseRedisAddress(String(value)),
      ({ message }) => message.replace(/^REDIS_URL: /, ''),
    ),
  file: readable,
  /** A client certificate needs its key, and is useful only with TLS. */
  certificate: (value: unknown, variables: Variables): Problem[] => {
    const unreadable = readable(value);
    if (unreadable.length > 0) return unreadable;
    if (variables.REDIS_KEY_FILE === undefined) return [problem('it needs REDIS_KEY_FILE')];
    if (!usesTls(variables.REDIS_URL)) return [problem('REDIS_URL does not use TLS: `rediss` in place of `redis`')];
    if (readable(variables.REDIS_KEY_FILE).length > 0) return [];
    return problemsOf(
      () =>
        createSecureContext({
          cert: readFileSync(String(value)),
          key: readFileSync(String(variables.REDIS_KEY_FILE)),
        }),
      ({ code }) => `certificate and key cannot be used together (${code})`,
    );
  },
  key: (value: unknown, variables: Variables): Problem[] => {
    const unreadable = readable(value);
    if (unreadable.length > 0) return unreadable;
    return variables.REDIS_CERT_FILE === undefined ? [problem('it needs REDIS_CERT_FILE')] : [];
  },
};

const problem = (message: string): Problem => ({ path: '', message });

function readable(value: unknown): Problem[] {
  return problemsOf(
    () => readFileSync(String(value)),
    ({ code }) => `the file cannot be read (${code})`,
  );
}

/**
 * Returns true if the address uses TLS. An invalid address counts as using TLS, so that only the check of the address
 * reports it.
 */
function usesTls(address: unknown): boolean {
  try {
    return parseRedisAddress(String(address)).isTls;
  } catch {
    return true;
  }
}

function problemsOf(attempt: () => unknown, describe: (error: NodeJS.ErrnoException) => string): Problem[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [problem(describe(error as NodeJS.ErrnoException))];
  }
}
