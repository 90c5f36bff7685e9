export type { ShutdownStep } from './install-shutdown.ts';
export { loggedNetwork, networkOf, type PrefixLength } from './network-of.ts';
export { rejectMalformedRequests } from './reject-malformed-requests.ts';
export type { Check, CheckResult } from './run-checks.ts';
export { runService, type ServiceContext, type ServiceParts } from './run-service.ts';
