import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { activeTraceIds } from './tracing/spans.ts';

/** Loaded only if somebody may read the lines. */
const pretty = process.stdout.isTTY ? await import('pino-pretty') : undefined;

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
 * Paths that no log line may show, for pino's `redact`. These paths are the secret names at the top of a line and
 * inside the objects that are usually logged (`body.password`, `data.refresh_token`), and the secret headers of
 * requests and answers.
 *
 * An object under another name is not searched. The wildcard for that (`*.password`) would take 37 µs of CPU per line.
 * The named paths take 15 µs, and a line without redaction takes 4 µs.
 */
const redactedPaths: readonly string[] = [
  ...SECRET_NAMES,
  ...PARENTS.flatMap((parent) => SECRET_NAMES.map((name) => `${parent}.${name}`)),
  ...HEADER_PARENTS.flatMap((parent) => SECRET_HEADERS.map((name) => `${parent}headers["${name}"]`)),
];

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Name of the service, in every line. */
  readonly service: string;
  /** Least severe level that is written. `silent` writes nothing. */
  readonly level: string;
  /** True for readable lines instead of JSON. It applies only if stdout is a terminal. */
  readonly pretty?: boolean;
  /** Destination of the lines instead of stdout. */
  readonly destination?: DestinationStream;
}

/**
 * Creates the logger of a service. It writes one JSON object per line on stdout, synchronously so that nothing is lost
 * at the exit. A line has the ISO time, the level's name and the ids of the active span, and secrets are left out
 * (`redactedPaths`).
 */
export function createLogger({ service, level, pretty: wanted = false, destination }: LoggerOptions): Logger {
  const terminal = wanted ? pretty?.default({ colorize: true, sync: true }) : undefined;
  const options = {
    level,
    base: { service },
    mixin: activeTraceIds,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err, error: stdSerializers.err },
    redact: { paths: [...redactedPaths], censor: '[redacted]' },
  };
  return pino(options, destination ?? terminal ?? pino.destination({ dest: 1, sync: true }));
}

/** Writes one line of the audit log. */
export type WriteAudit = (fields: Readonly<Record<string, unknown>>) => void;

/**
 * Creates the audit log of a service. Its lines are in the service's log, with `audit: true`. They are written at any
 * log level except `silent`.
 */
export function createAuditLog(logger: Logger): WriteAudit {
  const level = logger.level === 'silent' ? 'silent' : 'info';
  const lines = logger.child({ audit: true }, { level });
  return (fields) => lines.info(fields, 'audit');
}
