import { expect, test } from '@jest/globals';
import { readName, readRole } from './read-staff.ts';

const valuesOf = { viewer: ['staff'], operator: ['on-call', 'admins'] };
const roleAt = (path: string, claims: object) =>
  readRole(claims as Record<string, unknown>, { CONSOLE_ROLE_CLAIM: path, CONSOLE_ROLES: valuesOf });

test.each([
  ['realm_access.roles', { realm_access: { roles: ['staff', 'on-call'] } }, 'operator'],
  ['resource_access.console.roles', { resource_access: { console: { roles: ['staff'] } } }, 'viewer'],
  ['https://example.com/roles', { 'https://example.com/roles': 'admins' }, 'operator'],
  ['realm_access.roles', { realm_access: null }, undefined],
  ['realm_access.roles', { realm_access: 'staff' }, undefined],
  ['roles.length', { roles: ['staff'] }, undefined],
  ['constructor.name', {}, undefined],
  ['__proto__', {}, undefined],
])('the role of the claim %s is read from %j: %s', (path, claims, role) => {
  expect(roleAt(path, claims)).toBe(role);
});

test('a role without values is given to nobody', () => {
  expect(roleAt('roles', { roles: [undefined, null, 'support'] })).toBeUndefined();
});

test.each([
  [{ name: 'Olga Orlova', sub: '7' }, 'Olga Orlova'],
  [{ name: ' ', preferred_username: 'olga', sub: '7' }, 'olga'],
  [{ name: { family: 'Orlova' }, sub: '7' }, '7'],
  [{ name: 'Olga\nOrlova\u0000', sub: '7' }, 'Olga Orlova'],
  [{ name: 'x'.repeat(200), sub: '7' }, 'x'.repeat(128)],
])('the name that logs have of %j is %j', (claims, name) => {
  expect(readName(claims)).toBe(name);
});
