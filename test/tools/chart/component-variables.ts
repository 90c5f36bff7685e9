import { apiConfig, migrateConfig, migrateRedisConfig } from '@auth-account/api/config';
import { probeConfig } from '@auth-account/authctl/probe-config';
import { type describeConfig, logConfig, mongoConfig } from '@auth-account/config';
import { consoleConfig } from '@auth-account/console/config';
import { pushGatewayConfig } from '@auth-account/push-gateway/config';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { workerConfig } from '@auth-account/worker/config';

/** The name in the values of a component that runs one of our programs. */
export type Component = 'api' | 'pushGateway' | 'worker' | 'console' | 'probe' | 'migrate';

/** A variable, with the part of its JSON Schema that the chart uses. */
export interface Variable {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>> & { readonly secret?: boolean; readonly description?: string };
  /** True if the variable is not optional and has no default. */
  readonly isRequired: boolean;
}

type ConfigSchema = Parameters<typeof describeConfig>[0];

function read({ properties, required }: ConfigSchema): Variable[] {
  const names = new Set<string>(required ?? []);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as Variable['schema'],
    isRequired: names.has(name) && !('default' in schema),
  }));
}

/** Returns the variables of the migrations, which are some of the api's (MongoDB, Redis, the log) and their own. */
function migrateVariables(): Variable[] {
  const common = { ...mongoConfig(mongoChecks), ...migrateRedisConfig, ...logConfig };
  return [...read(apiConfig).filter(({ name }) => name in common), ...read(migrateConfig)];
}

/** Variables of each component's configuration schema, in the order of their declaration. */
export const variables: Readonly<Record<Component, readonly Variable[]>> = {
  api: read(apiConfig),
  pushGateway: read(pushGatewayConfig),
  worker: read(workerConfig),
  console: read(consoleConfig),
  probe: read(probeConfig),
  migrate: migrateVariables(),
};

export const components = Object.keys(variables) as Component[];

/** Returns the variables of all components, each once. */
export function allVariables(): Variable[] {
  const named = Object.values(variables)
    .flat()
    .map((variable) => [variable.name, variable] as const);
  return [...new Map(named).values()];
}

/** Variables that must have the same value in several services, so only the chart's common `config` has them. */
const shared = new Set([
  'TOKEN_ISSUER',
  'TOKEN_AUDIENCE',
  'ACCESS_TOKEN_TTL_SECONDS',
  'ACCESS_TOKEN_MAX_TTL_SECONDS',
  'ACCESS_TOKEN_ALGORITHM',
  'KEY_PREFIX',
  'MONGODB_DATABASE',
  'VERSION_CHECKS',
]);

/**
 * Returns true for variables that have separate values in the chart, such as ports, secrets, files and the probe's
 * addresses.
 */
function isSetByChart({ name, schema }: Variable): boolean {
  return /_(PORT|FILE)$/.test(name) || schema.secret === true || /^PROBE_(API|PUSH|MAIL)_URL$/.test(name);
}

/** Returns the variables that the chart's common `config` accepts. */
export function sharedConfig(): Variable[] {
  return allVariables().filter((variable) => !isSetByChart(variable));
}

/** Returns the variables that the `config` of a component accepts. */
export function configOf(component: Component): Variable[] {
  return variables[component].filter((variable) => !isSetByChart(variable) && !shared.has(variable.name));
}
