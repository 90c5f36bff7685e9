import type { RegisterRequest } from '@auth-account/contracts/http/register';
import { isAppError } from '@auth-account/errors';
import type { Counter } from 'prom-client';
import type { RegisterOutput } from '../usecases/register.ts';

type Register<O> = (input: RegisterRequest, origin: O) => Promise<RegisterOutput>;

/** Counts what registrations come to, by their mode. */
export function countRegistrations<O>(counter: Counter<'mode' | 'outcome'>, register: Register<O>): Register<O> {
  return async (input, origin) => {
    const mode = input.space_creation_mode;
    try {
      const output = await register(input, origin);
      counter.inc({ mode, outcome: output.isReplayed ? 'replayed' : 'created' });
      return output;
    } catch (error) {
      counter.inc({ mode, outcome: isAppError(error) && error.status < 500 ? 'refused' : 'failed' });
      throw error;
    }
  };
}
