import { createLogger, type Logger } from '@auth-account/telemetry';

/** A line of a log, as it was written. */
export type Line = Readonly<Record<string, unknown>>;

/** The log of a service in this process. */
export interface RecordedLog {
  readonly logger: Logger;
  /** What it has written. */
  readonly lines: Line[];
  /** The audit lines since they were last taken, without what every line has. */
  takeEvents(): Line[];
}

/** A log that is kept: errors, and the audit log, which is written at every level. */
export function recordLog(service: string): RecordedLog {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return {
    logger: createLogger({ service, level: 'error', destination }),
    lines,
    takeEvents: () =>
      lines
        .splice(0)
        .filter(({ audit }) => audit === true)
        .map(({ level: _level, time: _time, service: _service, audit: _audit, msg: _msg, ...event }) => event),
  };
}

/** How many events these lines of the audit log stand for: each for its own, and for those that were left out. */
export function countEvents(lines: readonly Line[]): number {
  return lines.reduce((sum, { suppressed = 0 }) => sum + 1 + Number(suppressed), 0);
}
