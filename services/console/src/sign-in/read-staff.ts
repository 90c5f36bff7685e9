import type { ConsoleConfig } from '../config.ts';
import { type Role, roles } from '../contract/roles.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Returns the highest role that the claims give, or undefined if they give none. */
export function readRole(
  claims: Claims,
  { CONSOLE_ROLE_CLAIM: path, CONSOLE_ROLES: valuesOf }: Pick<ConsoleConfig, 'CONSOLE_ROLE_CLAIM' | 'CONSOLE_ROLES'>,
): Role | undefined {
  const found = findClaim(claims, path);
  const given: readonly unknown[] = Array.isArray(found) ? found : [found];
  return roles.findLast((role) => valuesOf[role]?.some((value) => given.includes(value)));
}

/** Names of claims may have dots themselves, as those that are URLs, so the whole name comes first. */
function findClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, name) => {
    const holder = Object(value) as Claims;
    return Object.hasOwn(holder, name) ? holder[name] : undefined;
  }, claims);
}

/** Returns the person's name for logs and colleagues: as an operator's name must be. */
export function readName({ name, preferred_username, sub }: Claims): string {
  const given = [name, preferred_username, sub].find((text) => typeof text === 'string' && text.trim() !== '');
  return String(given)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 128)
    .replace(/[\p{Cs}]$/u, '')
    .trim();
}
