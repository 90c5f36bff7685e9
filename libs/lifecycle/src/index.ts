export { createOpsServer, type OpsServer, type OpsServerOptions } from './create-ops-server.ts';
export type { ShutdownStep } from './install-shutdown.ts';
export { loggedNetwork, networkOf, type PrefixLength } from './network-of.ts';
export { rejectMalformedRequests } from './reject-malformed-requests.ts';
export type { Check, CheckReport, CheckResult } from './run-checks.ts';
export { runService, type ServiceContext, type ServiceDefinition, type ServiceParts } from './run-service.ts';
