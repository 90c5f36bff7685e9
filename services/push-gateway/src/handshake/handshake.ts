import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { requestIdPattern } from '@auth-account/contracts/http/request-headers';
import { type AppError as AnyAppError, AppError, type Locale, negotiateLocale, toHttp } from '@auth-account/errors';
import { readBearer } from '@auth-account/verifier/access-token';

/** The part of a request that is copied, because uWebSockets.js reuses the request itself after the first `await`. */
export interface RequestHead {
  /**
   * The client's request id, or a new one if the client's is malformed or missing. On a handshake the id is optional.
   */
  readonly requestId: string;
  readonly locale: Locale;
  readonly isHead: boolean;
}

/** The head of a request to `/ws/push-stream/:id`. */
export interface Handshake extends RequestHead {
  /** `{id}` of the path, in lower case, because iOS prints UUIDs in capitals. */
  readonly sessionId: string;
  readonly key: string;
  readonly authorization: string | undefined;
  /** Offered subprotocols, in order. */
  readonly subprotocols: readonly string[];
  /** Networks in `X-Forwarded-For`, in order. */
  readonly forwardedFor: readonly string[];
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** True for a complete handshake (RFC 6455 section 4.2.1) of version 13, the only version. */
  readonly isWebSocket: boolean;
}

/** Copies the parts of a request that every answer needs. */
export function readRequestHead(req: HttpRequest, headers = copyHeaders(req)): RequestHead {
  const requestId = headers.get('x-request-id');
  return {
    requestId: requestId !== undefined && requestIdPattern.test(requestId) ? requestId : randomUUID(),
    locale: negotiateLocale(headers.get('accept-language')),
    isHead: req.getMethod() === 'head',
  };
}

/** Copies the parts of a request that an upgrade needs. */
export function readHandshake(req: HttpRequest): Handshake {
  const headers = copyHeaders(req);
  return {
    ...readRequestHead(req, headers),
    sessionId: (req.getParameter(0) ?? '').toLowerCase(),
    key: headers.get('sec-websocket-key') ?? '',
    authorization: headers.get('authorization'),
    subprotocols: splitList(headers.get('sec-websocket-protocol')),
    forwardedFor: splitList(headers.get('x-forwarded-for')),
    origin: headers.get('origin'),
    host: headers.get('host'),
    isWebSocket:
      splitList(headers.get('connection')?.toLowerCase()).includes('upgrade') &&
      headers.get('upgrade')?.toLowerCase() === 'websocket' &&
      headers.get('sec-websocket-version') === '13',
  };
}

/** Repeated headers are joined (RFC 9110 section 5.3), so that no repetition is ignored. */
function copyHeaders(req: HttpRequest): Map<string, string> {
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const former = headers.get(name);
    headers.set(name, former === undefined ? value : `${former}, ${value}`);
  });
  return headers;
}

function splitList(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header.split(',').flatMap((item) => item.trim() || []);
}

/** The access token of a handshake, and the subprotocol that the answer names (empty: none). */
interface Credentials {
  readonly token: string;
  readonly subprotocol: 'bearer' | '';
}

/**
 * Reads the token from `Authorization: Bearer …`, or from the second of the two subprotocols `bearer, <token>`, for
 * clients that cannot set headers. The answer names only `bearer`, because it must not repeat the token.
 *
 * Throws `IAD_JWT_ACCESS_INVALID` if there is no token, if a token is malformed, or if the two places have different
 * tokens.
 */
export function readCredentials({ authorization, subprotocols }: Handshake): Credentials {
  const [first, offered, ...further] = subprotocols;
  const subprotocol = first === 'bearer' ? first : '';
  if (subprotocol && further.length > 0) throw new AppError('IAD_JWT_ACCESS_INVALID');
  const inProtocol = subprotocol ? offered : undefined;
  const token = authorization === undefined && inProtocol !== undefined ? inProtocol : readBearer(authorization);
  if (inProtocol !== undefined && inProtocol !== token) throw new AppError('IAD_JWT_ACCESS_INVALID');
  return { token, subprotocol };
}

/**
 * Returns the network of the client. The nearest `trustedProxyHops` hops are our own proxies: the gateway's peer first,
 * then the entries of `X-Forwarded-For` from the right. The client is the hop before these, or the leftmost entry if
 * the list is shorter. The response must not have been aborted.
 */
export function clientNetwork(
  res: Pick<HttpResponse, 'getRemoteAddressAsText'>,
  { forwardedFor }: Pick<Handshake, 'forwardedFor'>,
  trustedProxyHops: number,
): string | undefined {
  const peer = Buffer.from(res.getRemoteAddressAsText()).toString();
  return [...forwardedFor, peer].slice(-trustedProxyHops - 1)[0];
}

/**
 * Answers with the contract's error body and closes the connection, because it is of no further use. The response must
 * not have been aborted.
 */
export function sendError(res: HttpResponse, error: AnyAppError, { requestId, locale, isHead }: RequestHead): void {
  const { status, headers, body } = toHttp(error, { locale });
  const text = JSON.stringify(body);
  res.cork(() => {
    res.writeStatus(`${status} ${STATUS_CODES[status]}`);
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
    res.writeHeader('Content-Type', 'application/json').writeHeader('X-Request-ID', requestId);
    res.end(isHead ? '' : text, true);
  });
}
