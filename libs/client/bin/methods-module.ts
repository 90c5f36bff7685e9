import type { Route } from '@auth-account/contracts';
import { access, common } from '@auth-account/contracts/http/routes/shared';
import { clientRoutes, takesDeviceId } from './operations-module.ts';
import type { Schema } from './type-of.ts';

/** Methods by name. A branch has further methods. */
type Methods = Map<string, Route | Methods>;

/**
 * Prints the plain methods of the client. The field `client` of a route names its method. Each distinct first word of
 * these names gets a table and an interface.
 */
export function methodsModule(): string {
  const all = methodTree();
  const printed = [...all].map(([name, methods]) => {
    if (!(methods instanceof Map)) throw new Error(`the method ${name} has no dot and is not core`);
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Methods`;
    return `
export interface ${type} ${printedTypes(methods, 1)}

export const ${name}Methods: MethodTable<${type}> = ${printedTable(methods, 1)};
`;
  });
  return `import type { OperationTypes } from './operation-types.ts';
import * as operations from './operations.ts';

/** Operations of the methods of \`M\`. */
export type MethodTable<M = object> = {
  readonly [K in keyof M]: M[K] extends (...input: never) => unknown ? operations.Operation : MethodTable<M[K]>;
};
${printed.join('')}`;
}

function methodTree(): Methods {
  const all: Methods = new Map();
  for (const route of clientRoutes) {
    if (route.client !== null && route.client !== 'core') place(all, route.client.split('.'), route);
  }
  return all;
}

function place(methods: Methods, [name = '', ...more]: readonly string[], route: Route): void {
  const present = methods.get(name);
  if (more.length === 0 && present === undefined) methods.set(name, route);
  else if (present === undefined) methods.set(name, branchOf(more, route));
  else if (present instanceof Map && more.length > 0) place(present, more, route);
  else throw new Error(`two operations have the method ${route.client}`);
}

function branchOf(path: readonly string[], route: Route): Methods {
  const branch: Methods = new Map();
  place(branch, path, route);
  return branch;
}

function printedTypes(methods: Methods, level: number): string {
  const indent = '  '.repeat(level);
  const members = [...methods].map(([name, method]) =>
    method instanceof Map
      ? `${indent}readonly ${name}: ${printedTypes(method, level + 1)};`
      : `${docOf(method, indent)}\n${indent}${name}${signatureOf(method)};`,
  );
  return `{\n${members.join('\n')}\n${'  '.repeat(level - 1)}}`;
}

/** Codes that any call may raise. */
const shared: readonly string[] = [...common, ...access];

function docOf({ summary, errors }: Route, indent: string): string {
  const own = errors.filter((code) => !shared.includes(code)).map((code) => `\`${code}\``);
  const raised = own.length > 0 ? ` Raises ${own.join(', ')}.` : '';
  const line = `${indent}/** ${summary}.${raised} */`;
  return line.length <= 120 ? line : `${indent}/**\n${indent} * ${summary}.\n${indent} *${raised}\n${indent} */`;
}

function signatureOf({ operationId, params = {}, body }: Route): string {
  const type = (part: 'body' | 'data') => `OperationTypes['${operationId}']['${part}']`;
  const { required = [] } = (body ?? {}) as Schema;
  const bodyType = takesDeviceId(body) ? `Omit<${type('body')}, 'device_id'>` : type('body');
  const inputs = [
    ...Object.keys(params).map((name) => `${name}: string`),
    ...(body ? [`body${required.length === 0 ? '?' : ''}: ${bodyType}`] : []),
  ];
  return `(${inputs.join(', ')}): Promise<${type('data')}>`;
}

function printedTable(methods: Methods, level: number): string {
  const indent = '  '.repeat(level);
  const rows = [...methods].map(([name, method]) => {
    if (method instanceof Map) return `${indent}${name}: ${printedTable(method, level + 1)},`;
    return `${indent}${name}: operations.${method.operationId},`;
  });
  return `{\n${rows.join('\n')}\n${'  '.repeat(level - 1)}}`;
}

/** Prints an example of each operation's success, for the fake service. */
export function examplesModule(): string {
  const rows = clientRoutes.map(({ operationId, success: { status, example } }) => {
    const { data } = example as { readonly data: object };
    return `  [operations.${operationId}, ${status}, ${JSON.stringify(data, null, 2).replace(/\n/g, '\n  ')}],`;
  });
  return `import * as operations from './operations.ts';

/** Status and \`data\` of a success of each operation, as the contract's examples have them. */
export const examples: readonly (readonly [operation: operations.Operation, status: number, data: object])[] = [
${rows.join('\n')}
];
`;
}
