/** Error codes with which a handshake is refused, before the upgrade. */
export const handshakeErrors = [
  'IAD_JWT_ACCESS_INVALID',
  'IAD_JWT_ACCESS_EXPIRED',
  'ERR-STREAM-SESSION-MISMATCH',
  'ERR-RATE-LIMITED',
  'ERR-VALIDATION-FAILED',
  'ERR-OVERLOADED',
  'ERR-DEPENDENCY-UNAVAILABLE',
  'ERR-ROUTE-NOT-FOUND',
  'ERR-INTERNAL',
] as const;

/** Error codes of `error` frames, which refuse an `auth` frame. */
export const frameErrors = [
  'IAD_JWT_ACCESS_INVALID',
  'IAD_JWT_ACCESS_EXPIRED',
  'ERR-STREAM-SESSION-MISMATCH',
  'ERR-RATE-LIMITED',
  'ERR-DEPENDENCY-UNAVAILABLE',
  'ERR-INTERNAL',
] as const;
