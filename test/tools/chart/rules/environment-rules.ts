import { allVariables, type Component, type Variable, variables } from '../component-variables.ts';
import { containersOf, environmentOf, findWorkloads, type Manifest, nameOf, type Rule } from '../manifest.ts';

/** Variables of OpenTelemetry and of Node, and the pod's name, which OpenTelemetry's variables use. */
const foreign = /^(OTEL_[A-Z_]+|NODE_[A-Z_]+|POD_NAME)$/;

/** The program of each container, by the container's name. */
const programs: Readonly<Record<string, Component>> = {
  api: 'api',
  'push-gateway': 'pushGateway',
  worker: 'worker',
  console: 'console',
  probe: 'probe',
  migrate: 'migrate',
};

const known = new Map(allVariables().map((variable) => [variable.name, variable]));

/** Returns the containers that run one of our programs, with all their variables. */
function findPrograms(manifests: readonly Manifest[]) {
  return findWorkloads(manifests).flatMap(({ manifest, pod }) =>
    containersOf(pod).flatMap((container) => {
      const component = programs[container.name];
      if (component === undefined) return [];
      const where = `${nameOf(manifest)}, container ${container.name}`;
      return [{ where, component, environment: environmentOf(container, manifests) }];
    }),
  );
}

/** Returns the names of the variables. A variable that may come from a file has a second name. */
function ownNames(of: readonly Variable[]): Set<string> {
  return new Set(of.flatMap(({ name, schema }) => (schema.secret ? [name, `${name}_FILE`] : [name])));
}

/**
 * Returns true if the component may have the variable. It may have any service's variables, but a `_FILE` only if it
 * reads that file.
 */
function isKnown(name: string, component: Component): boolean {
  if (foreign.test(name) || ownNames(variables[component]).has(name)) return true;
  return known.has(name) && !name.endsWith('_FILE');
}

function hasCredentials(value: string | undefined): boolean {
  return value !== undefined && /:\/\/[^/@\s]*:[^/@\s]+@/.test(value);
}

/** Rules about the variables of our programs, based on their configuration schemas. */
export const environmentRules: readonly Rule[] = [
  {
    title: 'every variable is known to the configuration schemas',
    find: (manifests) =>
      findPrograms(manifests).flatMap(({ where, component, environment }) => {
        const unknown = [...environment.keys()].filter((name) => !isKnown(name, component));
        return unknown.map((name) => `${where}: nobody reads ${name}`);
      }),
  },
  {
    title: 'every required variable is set, or its file',
    find: (manifests) =>
      findPrograms(manifests).flatMap(({ where, component, environment }) => {
        const required = variables[component].filter(({ isRequired }) => isRequired);
        const missing = required.filter(({ name }) => !environment.has(name) && !environment.has(`${name}_FILE`));
        return missing.map(({ name }) => `${where}: ${name} is required`);
      }),
  },
  {
    title: 'no variable holds a secret',
    find: (manifests) =>
      findPrograms(manifests).flatMap(({ where, environment }) => {
        const open = [...environment].filter(
          ([name, value]) => hasCredentials(value) || (value !== undefined && known.get(name)?.schema.secret === true),
        );
        return open.map(([name]) => `${where}: ${name} is written out`);
      }),
  },
  {
    title: 'the release makes no Secret',
    find: (manifests) =>
      manifests.filter(({ kind }) => kind === 'Secret').map((secret) => `${nameOf(secret)}: is made by the chart`),
  },
];
