/**
 * Returns true if this is a system error with this code, for example ENOENT. It does not use `instanceof Error`,
 * because under Jest the errors of Node's own modules belong to another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
