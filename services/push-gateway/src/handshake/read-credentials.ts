import { AppError } from '@auth-account/errors';
import type { Handshake } from './handshake.ts';

/** The access token of a handshake, and the subprotocol that the answer names (empty: none). */
export interface Credentials {
  readonly token: string;
  readonly subprotocol: 'bearer' | '';
}

/** RFC 6750 section 2.1: the scheme in any case, one space, a token of the b64token alphabet. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * The token from `Authorization: Bearer …`, or the second of the two subprotocols `bearer, <token>`, for clients that
 * cannot set headers. The answer names `bearer` only: it must not repeat the token.
 *
 * Raises `IAD_JWT_ACCESS_INVALID` where there is none, where it has another form, or where both are there and differ.
 */
export function readCredentials({ authorization, subprotocols }: Handshake): Credentials {
  const [first, offered, ...further] = subprotocols;
  const subprotocol = first === 'bearer' ? first : '';
  if (subprotocol && further.length > 0) throw new AppError('IAD_JWT_ACCESS_INVALID');
  const inProtocol = subprotocol ? offered : undefined;
  const inHeader = authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1];
  if (authorization !== undefined && inHeader === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
  const token = inHeader ?? inProtocol;
  if (token === undefined) {
    // RFC 6750 section 3.1: a request without credentials gets no error word.
    throw new AppError('IAD_JWT_ACCESS_INVALID', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  if (inProtocol !== undefined && inProtocol !== token) throw new AppError('IAD_JWT_ACCESS_INVALID');
  return { token, subprotocol };
}
