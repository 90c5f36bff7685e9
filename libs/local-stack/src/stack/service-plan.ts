import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

export interface ServicePlan {
  readonly name: string;
  /** File that Node runs. */
  readonly main: string;
  /** Environment variable with the port of the service's `/readyz`. */
  readonly opsPortVariable: string;
  /** True if the service gets only the public parts of the access token keys. */
  readonly hasPublicKeysOnly?: true;
}

export interface StackPlan {
  /** Program that runs to its end before the services start. */
  readonly migrate: string;
  /** Groups of services, in the order of shutdown. The services of a group end at the same time. */
  readonly services: readonly (readonly ServicePlan[])[];
}

const inServices = (...path: string[]) => join(projectRoot, 'services', ...path);

/** True if the services run from their bundles, as in their images: `BUNDLES=1`, set by `npm test -- --bundles`. */
const isBundled = process.env.BUNDLES === '1';

/** Returns the file that Node runs for a service: its source, or its bundle. */
export function mainOf(service: ServiceName | 'authctl' | 'console'): string {
  return isBundled ? inServices(service, 'dist', 'main.js') : inServices(service, 'src', 'main.ts');
}

export type ServiceName = 'api' | 'push-gateway' | 'worker';

export const SERVICES = {
  api: { name: 'api', main: mainOf('api'), opsPortVariable: 'API_OPS_PORT' },
  'push-gateway': {
    name: 'push-gateway',
    main: mainOf('push-gateway'),
    opsPortVariable: 'PUSH_OPS_PORT',
    hasPublicKeysOnly: true,
  },
  worker: { name: 'worker', main: mainOf('worker'), opsPortVariable: 'WORKER_OPS_PORT' },
} as const satisfies Record<ServiceName, ServicePlan>;

/** Optional in a deployment, so no other service needs it. */
const CONSOLE: ServicePlan = { name: 'console', main: mainOf('console'), opsPortVariable: 'CONSOLE_OPS_PORT' };

/** The plan for all services. The worker ends last, because it takes over unfinished work of the api. */
export const STACK: StackPlan = {
  migrate: isBundled ? inServices('api', 'dist', 'migrate.js') : inServices('api', 'bin', 'migrate.ts'),
  services: [[SERVICES.api, SERVICES['push-gateway'], CONSOLE], [SERVICES.worker]],
};
