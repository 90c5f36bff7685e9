export { type AuditSampler, createAuditSampler } from './create-audit-sampler.ts';
export { createAuditLog, createLogger, type Logger, type WriteAudit } from './create-logger.ts';
export {
  countHolds,
  createMetrics,
  createTransactionMetrics,
  createZeroedCounter,
  type Metrics,
} from './create-metrics.ts';
export { enterRequest, inPresentContext, nameActiveRoute } from './tracing/server-span.ts';
export { exemplarLabels, inSpan, withSpan } from './tracing/spans.ts';
export { stopTracing } from './tracing/stop-tracing.ts';
export { activeTraceparent, carryingHeaders, contextOf } from './tracing/trace-carrier.ts';
