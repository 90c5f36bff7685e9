import type { RouteName } from '@auth-account/contracts';
import type { ValidationItem } from '@auth-account/errors';

/** Finds what a schema cannot know to be wrong with a body. It must do with bodies that the schema refuses. */
export type BodyCheck = (body: unknown) => ValidationItem[];

/** The checks of the routes that have one. */
export type BodyChecks = Partial<Readonly<Record<RouteName, BodyCheck>>>;

/** Nobody may choose a blocked password (decisions, "Registration"). What is no string is the schema's affair. */
export function blockedPasswordCheck(isBlocked: (password: string) => boolean): BodyCheck {
  return (body) => {
    const { password } = (body ?? {}) as { readonly password?: unknown };
    if (typeof password !== 'string' || !isBlocked(password)) return [];
    const msg = 'Value error, the password is on a list of common passwords';
    return [{ loc: ['body', 'password'], msg, type: 'value_error' }];
  };
}
