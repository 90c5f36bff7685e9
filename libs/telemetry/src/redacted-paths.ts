const SECRET_NAMES = [
  'authorization',
  'cookie',
  'password',
  'password_hash',
  'secret',
  'token',
  'access_token',
  'refresh_token',
  'invite_token',
  'provided_token',
];

const PARENTS = ['body', 'data', 'details', 'input', 'user', 'session', 'subscriber', 'err'];

const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'sec-websocket-protocol', 'webhook-signature'];
const HEADER_PARENTS = ['', 'req.', 'res.', 'request.', 'response.'];

/**
 * What no log line may show, for pino's `redact`: secret names at the top of a line and inside the objects that are
 * usually logged (`body.password`, `data.refresh_token`), and the secret headers of requests and answers.
 *
 * An object under another name is not searched. The wildcard that would (`*.password`) costs 37 µs of CPU per line, the
 * named places 15, no redaction 4.
 */
export const redactedPaths: readonly string[] = [
  ...SECRET_NAMES,
  ...PARENTS.flatMap((parent) => SECRET_NAMES.map((name) => `${parent}.${name}`)),
  ...HEADER_PARENTS.flatMap((parent) => SECRET_HEADERS.map((name) => `${parent}headers["${name}"]`)),
];
