/** Errors of every operation with a body. */
export const withBody = [
  'ERR-VALIDATION-FAILED',
  'ERR-UNSUPPORTED-MEDIA-TYPE',
  'ERR-PAYLOAD-TOO-LARGE',
  'ERR-INTERNAL',
  'ERR-DEPENDENCY-UNAVAILABLE',
] as const;

/** Errors of every operation of apps with a body. */
export const common = ['PMA_TRACE_ID_MISSING', ...withBody] as const;

/** Errors of every operation without a body. */
export const withoutBody = [
  'PMA_TRACE_ID_MISSING',
  'ERR-VALIDATION-FAILED',
  'ERR-INTERNAL',
  'ERR-DEPENDENCY-UNAVAILABLE',
] as const;

/** Errors of every operation that requires an access token. */
export const access = ['IAD_JWT_ACCESS_INVALID', 'IAD_JWT_ACCESS_EXPIRED'] as const;

/**
 * Errors of every operation that asks who is there (`current_password` or `step_up_token`), in addition to `common` and
 * `access`. Such an operation also has {@link refusedStepUp}.
 */
export const fresh = [
  'ERR-REAUTHENTICATION-FAILED',
  'ERR-STEP-UP-REQUIRED',
  'ERR-RATE-LIMITED',
  'ERR-OVERLOADED',
] as const;

/** Only resource servers answer 401, by which they ask for another access token. */
export const refusedStepUp = { 'ERR-STEP-UP-REQUIRED': [403] } as const;

/**
 * Success of every operation that sends a code. The answer is the same whether or not a code is sent, so that it does
 * not reveal this.
 */
export const codeSent = {
  status: 202,
  description: 'The code is on its way, if there is somebody to send it to.',
} as const;

/** Headers that every operation of `/api/v1` takes. */
export const commonHeaders = ['X-Request-ID', 'Accept-Language'] as const;

/** Headers of every operation by which an account learns a device, or knows it again. */
export const knownHeaders = [...commonHeaders, 'X-Device-Secret'] as const;

/** Headers of every operation that logs in. */
export const loginHeaders = [...knownHeaders, 'DPoP'] as const;
