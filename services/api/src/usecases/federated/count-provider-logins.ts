import { isAppError } from '@auth-account/errors';
import type { ProviderOutcome } from '../../security/providers/provider-metrics.ts';

/** Counts what a right ID token came to. */
export type CountProviderLogin = (provider: string, outcome: ProviderOutcome) => void;

/** Errors that are outcomes of their own. Other errors say that the challenge, the token or the account was wrong. */
const outcomeOf: Readonly<Record<string, ProviderOutcome>> = {
  'ERR-SECOND-FACTOR-REQUIRED': 'second_factor_required',
  'ERR-REGISTRATION-REQUIRED': 'registration_required',
  'ERR-IDENTITY-DISABLED': 'identity_disabled',
  'ERR-IDENTITY-ADDRESS-REQUIRED': 'address_required',
  'ERR-ACCOUNT-LINK-REQUIRED': 'address_taken',
  'ERR-EMAIL-ALREADY-EXISTS': 'address_taken',
};

/** Returns the operation of a provider, whose ends are counted. A repeat of a lost answer counts again. */
export function countProviderLogins<Rest extends unknown[], Result>(
  operate: (provider: string, ...rest: Rest) => Promise<Result>,
  count: CountProviderLogin,
  toOutcome: (result: Result) => ProviderOutcome,
): (provider: string, ...rest: Rest) => Promise<Result> {
  return async (provider, ...rest) => {
    try {
      const result = await operate(provider, ...rest);
      count(provider, toOutcome(result));
      return result;
    } catch (error) {
      const outcome = isAppError(error) ? outcomeOf[error.code] : undefined;
      if (outcome !== undefined) count(provider, outcome);
      throw error;
    }
  };
}
