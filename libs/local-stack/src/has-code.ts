/**
 * Whether this is a system error with this code, for example ENOENT. Not by `instanceof Error`: under Jest the errors
 * of Node's own modules are of another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
