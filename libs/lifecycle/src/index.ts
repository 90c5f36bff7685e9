export type { Check, CheckReport, CheckResult } from './check.ts';
export { createOpsServer, type OpsServer, type OpsServerOptions } from './create-ops-server.ts';
export { rejectMalformedRequests } from './reject-malformed-requests.ts';
export { runService, type ServiceContext, type ServiceDefinition, type ServiceParts } from './run-service.ts';
export type { ShutdownStep } from './run-shutdown-steps.ts';
