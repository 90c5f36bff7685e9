import { apiConfig, migrateConfig } from '@auth-account/api/config';
import { probeConfig } from '@auth-account/authctl/probe-config';
import { type describeConfig, logConfig, mongoConfig } from '@auth-account/config';
import { pushGatewayConfig } from '@auth-account/push-gateway/config';
import { workerConfig } from '@auth-account/worker/config';

/** A part of the chart that runs a program of ours, as its values call it. */
export type Component = 'api' | 'pushGateway' | 'worker' | 'probe' | 'migrate';

/** What a program reads of a variable's JSON Schema, as far as the chart is concerned. */
export interface Variable {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>> & { readonly secret?: boolean; readonly description?: string };
  /** Without a default, and not optional. */
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

/** The migrations read what the api does of MongoDB and the log, and variables of their own. */
function migrateVariables(): Variable[] {
  const common = { ...mongoConfig, ...logConfig };
  return [...read(apiConfig).filter(({ name }) => name in common), ...read(migrateConfig)];
}

const variables: Readonly<Record<Component, readonly Variable[]>> = {
  api: read(apiConfig),
  pushGateway: read(pushGatewayConfig),
  worker: read(workerConfig),
  probe: read(probeConfig),
  migrate: migrateVariables(),
};

export const components = Object.keys(variables) as Component[];

/** The variables of a component's configuration schema, in the order of their declaration. */
export function variablesOf(component: Component): readonly Variable[] {
  return variables[component];
}

/** The variables of all components, each once. */
export function allVariables(): Variable[] {
  const named = components.flatMap(variablesOf).map((variable) => [variable.name, variable] as const);
  return [...new Map(named).values()];
}

/** Variables that must be the same in several services: they stand in the chart's `config` alone. */
const shared = new Set([
  'TOKEN_ISSUER',
  'TOKEN_AUDIENCE',
  'ACCESS_TOKEN_TTL_SECONDS',
  'ACCESS_TOKEN_MAX_TTL_SECONDS',
  'ACCESS_TOKEN_ALGORITHM',
  'KEY_PREFIX',
  'MONGODB_DATABASE',
]);

/** Variables for which the chart has values of its own: ports, secrets, files, and the probe's addresses. */
function isSetByChart({ name, schema }: Variable): boolean {
  return /_(PORT|FILE)$/.test(name) || schema.secret === true || /^PROBE_(API|PUSH)_URL$/.test(name);
}

/** The variables that the chart's `config` takes. */
export function sharedConfig(): Variable[] {
  return allVariables().filter((variable) => !isSetByChart(variable));
}

/** The variables that the `config` of a component takes. */
export function configOf(component: Component): Variable[] {
  return variablesOf(component).filter((variable) => !isSetByChart(variable) && !shared.has(variable.name));
}
