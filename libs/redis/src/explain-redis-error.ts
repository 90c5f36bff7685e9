import type { RedisConfig } from './open-redis.ts';
import { parseRedisAddress } from './redis-address.ts';

type Explained = Pick<RedisConfig, 'REDIS_URL' | 'REDIS_CERT_FILE'>;

/** Codes of Node's TLS. An alert means that Redis refused; the other codes come from this side. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/ALERT_UNKNOWN_CA/, 'Redis does not know the authority of the certificate in REDIS_CERT_FILE'],
  [/ALERT_CERTIFICATE_EXPIRED/, 'the certificate in REDIS_CERT_FILE has expired'],
  [/ALERT_CERTIFICATE_REVOKED/, 'the certificate in REDIS_CERT_FILE has been revoked'],
  [/ALERT_(BAD|UNSUPPORTED)_CERTIFICATE/, 'Redis refuses the certificate in REDIS_CERT_FILE'],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/, "REDIS_CA_FILE does not have the authority of Redis's certificate"],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, "Redis's certificate is of another name: REDIS_TLS_SERVER_NAME can name it"],
  [/^CERT_HAS_EXPIRED/, "Redis's certificate has expired"],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/, 'Redis does not use TLS on this port'],
];

const missing = 'Redis asks for a client certificate, and REDIS_CERT_FILE is not set';
const perhapsMissing = 'the connection was cut; if Redis asks for a client certificate, set REDIS_CERT_FILE';

/**
 * Returns an error that explains a failed connection to Redis and names the variable at fault, with the original error
 * as its cause. An error that has nothing to do with TLS is returned unchanged.
 */
export function explainRedisError(error: Error, config: Explained): Error {
  const explanation = explain(codeOf(error), config);
  return explanation === undefined ? error : new Error(`${explanation} (${codeOf(error)})`, { cause: error });
}

/** Returns the error's code. A cluster's error contains the error of the node that was tried last. */
function codeOf(error: Error): string {
  const { code, lastNodeError } = error as NodeJS.ErrnoException & { readonly lastNodeError?: NodeJS.ErrnoException };
  return code ?? lastNodeError?.code ?? '';
}

function explain(code: string, { REDIS_URL, REDIS_CERT_FILE }: Explained): string | undefined {
  if (!parseRedisAddress(REDIS_URL).isTls) return undefined;
  const reason = reasons.find(([form]) => form.test(code))?.[1];
  if (reason !== undefined || REDIS_CERT_FILE !== undefined) return reason;
  if (/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/.test(code)) return missing;
  // With TLS 1.3 the refusal comes after the client's handshake, and the reset often arrives before the refusal.
  return /^(ECONNRESET|EPIPE)$/.test(code) ? perhapsMissing : undefined;
}
