import { createLogger } from '@auth-account/telemetry';

/** A line of a log, as written. */
export type Line = Readonly<Record<string, unknown>>;

/** The log of a service in this process. */
export type RecordedLog = ReturnType<typeof recordLog>;

/** Creates a log that is recorded: by default errors, and the audit log, which is written at every level. */
export function recordLog(service: string, level: 'debug' | 'error' = 'error') {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return {
    logger: createLogger({ service, level, destination }),
    /** The lines so far. */
    lines,
    /** Returns the audit lines since the last call, without the fields that every line has. */
    takeEvents: (): Line[] =>
      lines
        .splice(0)
        .filter(({ audit }) => audit === true)
        .map(({ level: _level, time: _time, service: _service, audit: _audit, msg: _msg, ...event }) => event),
  };
}

/** Returns the number of events that these lines of the audit log stand for: one each, plus the suppressed ones. */
export function countEvents(lines: readonly Line[]): number {
  return lines.reduce((sum, { suppressed = 0 }) => sum + 1 + Number(suppressed), 0);
}
