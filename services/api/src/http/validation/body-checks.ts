import type { RouteName } from '@auth-account/contracts';
import type { ValidationItem } from '@auth-account/errors';

/** Finds faults of a body that the schema cannot express. It must not fail on bodies that the schema refuses. */
export type BodyCheck = (body: unknown) => ValidationItem[];

/** The checks of the routes that have such a check. */
export type BodyChecks = Partial<Readonly<Record<RouteName, BodyCheck>>>;

/**
 * Refuses blocked passwords (docs/specification/registration.md, "Passwords"). The check skips a password that is not a
 * string, because the schema refuses it.
 */
export function blockedPasswordCheck(
  isBlocked: (password: string) => boolean,
  field: 'password' | 'new_password',
): BodyCheck {
  return (body) => {
    const { [field]: password } = (body ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof password !== 'string' || !isBlocked(password)) return [];
    const msg = 'Value error, the password is on a list of common passwords';
    return [{ loc: ['body', field], msg, type: 'value_error' }];
  };
}
