import type { IncomingMessage, RequestListener } from 'node:http';

/**
 * Limit for the number of headers, about the same as in uWebSockets.js. Node's own limit is in bytes and ignores colons
 * and line ends.
 */
const maxHeaders = 100;

/**
 * Answers instead of the listener if Node's parser has let a malformed request through. It answers 400 to any version
 * except 1.0 and 1.1 (RFC 9112 section 2.3). It also answers 400 to more than one `Host` (section 3.2), because a proxy
 * may have used a different one than this service. It answers 431 to more than a hundred headers.
 */
export function rejectMalformedRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const status = findFault(request);
    if (status === undefined) listener(request, response);
    else response.writeHead(status, { connection: 'close', 'content-length': 0 }).end();
  };
}

/** Returns the status of the refusal, if any. `rawHeaders` has names and values alternately. */
function findFault({ httpVersionMajor, rawHeaders }: IncomingMessage): number | undefined {
  if (httpVersionMajor !== 1) return 400;
  if (rawHeaders.length > 2 * maxHeaders) return 431;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 ? 400 : undefined;
}
