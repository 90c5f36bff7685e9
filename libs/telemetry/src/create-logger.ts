import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import { redactedPaths } from './redacted-paths.ts';
import { activeTraceIds } from './tracing/active-trace-ids.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Stands in every line. */
  readonly service: string;
  /** The least severe level that is written; `silent` for none. */
  readonly level: string;
  /** Readable lines instead of JSON; only where stdout is a terminal. */
  readonly pretty?: boolean;
  /** Where the lines go instead of stdout. */
  readonly destination?: DestinationStream;
}

/**
 * The logger of a service: one JSON object per line on stdout, written synchronously so that nothing is lost at the exit,
 * with ISO time, the level's name, the ids of the active span and secrets left out (`redactedPaths`).
 */
export function createLogger({ service, level, pretty: wanted = false, destination }: LoggerOptions): Logger {
  const terminal = wanted && process.stdout.isTTY ? pretty({ colorize: true, sync: true }) : undefined;
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
