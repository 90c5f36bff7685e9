/** Returns an id that sorts before every UUIDv7 of that time or later (RFC 9562, section 5.7). */
export function firstIdOf(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
