import type { UserDocument } from '@auth-account/stores/documents';

/**
 * Names an account in a question, so that the operator notices one that is not meant. For the terminal only: a log must
 * not have the address.
 */
export function describeAccount({ _id, email, display_name, last_login_at }: UserDocument): string {
  const name = display_name === undefined ? '' : `, ${display_name}`;
  return `${_id} (${email}${name}, last login ${last_login_at?.toISOString() ?? 'never'})`;
}
