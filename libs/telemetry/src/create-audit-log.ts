import type { Logger } from 'pino';

/** Writes one line of the audit log. */
export type WriteAudit = (fields: Readonly<Record<string, unknown>>) => void;

/**
 * The audit log of a service: lines of its log that carry `audit: true`. They are written whatever level the service
 * logs at, but for `silent`.
 */
export function createAuditLog(logger: Logger): WriteAudit {
  const level = logger.level === 'silent' ? 'silent' : 'info';
  const lines = logger.child({ audit: true }, { level });
  return (fields) => lines.info(fields, 'audit');
}
