/** Roles of staff, each with the rights of those before it. */
export const roles = ['viewer', 'support', 'operator'] as const;
export type Role = (typeof roles)[number];

/** Returns true if the role has the rights of the other one. */
export function hasRightsOf(role: Role, other: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(other);
}

/**
 * Every action, with the role that it needs. The api of the console, its page, its documentation and the test of every
 * role with every action follow this table.
 */
export const actionRoles = {
  'session.end': 'support',
  'sessions.end_all': 'support',
  'code.resend': 'support',
  'limits.clear': 'support',
  'password.void': 'support',
  'factor_removal.order': 'support',
  'factor_removal.stop': 'support',
  'invite.revoke': 'support',
  'deletion.cancel': 'support',
  'deletion.order': 'operator',
  'methods.remove': 'operator',
  'account.disable': 'operator',
  'account.enable': 'operator',
  'account.export': 'operator',
  'event.replay': 'operator',
  'dead_letter.discard': 'operator',
  'subscriber.suspend': 'operator',
  'subscriber.resume': 'operator',
  'subscriber.retry': 'operator',
} as const satisfies Readonly<Record<string, Role>>;
export type ActionName = keyof typeof actionRoles;
export const actionNames = Object.keys(actionRoles) as ActionName[];
