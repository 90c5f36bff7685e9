import { AppError } from '@auth-account/errors';

/** RFC 6750 section 2.1: the scheme in upper or lower case, one space, and a token of the b64token alphabet. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** Returns the token of an `Authorization` header. Throws `IAD_JWT_ACCESS_INVALID` if there is none. */
export function readBearer(authorization: string | undefined): string {
  if (authorization === undefined) {
    // RFC 6750 section 3.1: a request without credentials gets no error code in this header.
    throw new AppError('IAD_JWT_ACCESS_INVALID', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  const token = bearerPattern.exec(authorization)?.[1];
  if (token === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
  return token;
}
