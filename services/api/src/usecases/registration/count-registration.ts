import type { RegisterRequest } from '@auth-account/contracts/http/register';
import { isAppError } from '@auth-account/errors';

/** `failed` means the service's own fault (a status of 5xx). */
export type RegistrationOutcome = 'created' | 'replayed' | 'refused' | 'failed';

type Mode = RegisterRequest['space_creation_mode'];

/** Registers by `register`, and counts the outcome. */
export type CountRegistration = <T extends object>(mode: Mode, register: () => Promise<T>) => Promise<T>;

/** Creates the function that reports the outcome of each registration to `onEnd`. */
export function createCountRegistration(onEnd: (mode: Mode, outcome: RegistrationOutcome) => void): CountRegistration {
  return async (mode, register) => {
    try {
      const output = await register();
      onEnd(mode, 'isReplayed' in output && output.isReplayed ? 'replayed' : 'created');
      return output;
    } catch (error) {
      onEnd(mode, isAppError(error) && error.status < 500 ? 'refused' : 'failed');
      throw error;
    }
  };
}
