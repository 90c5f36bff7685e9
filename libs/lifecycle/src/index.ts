export type { Check, CheckReport, CheckResult } from './check.ts';
export { createOpsServer, type OpsServer, type OpsServerOptions } from './create-ops-server.ts';
export { runService, type ServiceContext, type ServiceDefinition, type ServiceParts } from './run-service.ts';
export type { StopStep } from './run-stop-steps.ts';
export { soundRequestsOnly } from './sound-requests-only.ts';
