import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

export interface ServicePlan {
  readonly name: string;
  /** TypeScript file that Node runs. */
  readonly main: string;
  /** Environment variable with the port of the service's `/readyz`. */
  readonly opsPortVariable: string;
  /** True if the service gets only the public halves of the access token keys. */
  readonly hasPublicKeysOnly?: true;
}

export interface StackPlan {
  /** Program that runs to its end before the services start. */
  readonly migrate: string;
  /** Groups of services, in the order of shutdown. The services of a group end at the same time. */
  readonly services: readonly (readonly ServicePlan[])[];
}

const sourceOf = (service: string, file: string) => join(projectRoot, 'services', service, 'src', file);

export const SERVICES = {
  api: { name: 'api', main: sourceOf('api', 'main.ts'), opsPortVariable: 'API_OPS_PORT' },
  'push-gateway': {
    name: 'push-gateway',
    main: sourceOf('push-gateway', 'main.ts'),
    opsPortVariable: 'PUSH_OPS_PORT',
    hasPublicKeysOnly: true,
  },
  worker: { name: 'worker', main: sourceOf('worker', 'main.ts'), opsPortVariable: 'WORKER_OPS_PORT' },
} as const satisfies Record<string, ServicePlan>;

export type ServiceName = keyof typeof SERVICES;

/** The plan for the three services. The worker ends last, because it takes over unfinished work of the api. */
export const STACK: StackPlan = {
  migrate: join(projectRoot, 'services', 'api', 'bin', 'migrate.ts'),
  services: [[SERVICES.api, SERVICES['push-gateway']], [SERVICES.worker]],
};
