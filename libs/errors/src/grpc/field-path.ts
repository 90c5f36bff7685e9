/**
 * Returns `loc` as the dotted path of a `BadRequest.FieldViolation`: `["body", "email"]` is `body.email`. `~` and `.`
 * inside a part become `~0` and `~1` (the idea of RFC 6901), so that the path can be reversed exactly.
 */
export function toFieldPath(loc: readonly string[]): string {
  return loc.map((part) => part.replaceAll('~', '~0').replaceAll('.', '~1')).join('.');
}

/** Returns the `loc` of a path that `toFieldPath` built. */
export function fromFieldPath(path: string): string[] {
  return path.split('.').map((part) => part.replaceAll('~1', '.').replaceAll('~0', '~'));
}
