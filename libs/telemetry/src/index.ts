export { createAuditLog, type WriteAudit } from './create-audit-log.ts';
export { createLogger, type Logger, type LoggerOptions } from './create-logger.ts';
export { createMetrics, type Metrics } from './create-metrics.ts';
