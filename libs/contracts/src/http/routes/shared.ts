/** What every operation with a JSON body can answer beside its own. */
export const common = [
  'PMA_TRACE_ID_MISSING',
  'ERR-VALIDATION-FAILED',
  'ERR-UNSUPPORTED-MEDIA-TYPE',
  'ERR-PAYLOAD-TOO-LARGE',
  'ERR-INTERNAL',
  'ERR-DEPENDENCY-UNAVAILABLE',
] as const;

/** What every operation without a body can answer beside its own. */
export const withoutBody = [
  'PMA_TRACE_ID_MISSING',
  'ERR-VALIDATION-FAILED',
  'ERR-INTERNAL',
  'ERR-DEPENDENCY-UNAVAILABLE',
] as const;

/** What every operation that asks for an access token can answer beside its own. */
export const access = ['IAD_JWT_ACCESS_INVALID', 'IAD_JWT_ACCESS_EXPIRED'] as const;

/** Headers that every operation of `/api/v1` takes. */
export const commonHeaders = ['X-Request-ID', 'Accept-Language'] as const;
