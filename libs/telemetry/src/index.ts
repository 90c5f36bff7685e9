export { createLogger, type Logger, type LoggerOptions } from './create-logger.ts';
export { createMetrics, type Metrics } from './create-metrics.ts';
