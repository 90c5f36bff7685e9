import type { Route } from '@auth-account/contracts';
import { routes } from '@auth-account/contracts';
import { type Schema, typeOf } from './type-of.ts';

/** The operations that apps call. */
export const clientRoutes: readonly Route[] = Object.values<Route>(routes).filter(({ client }) => client !== null);

/** Prints the operations in the shape in which the client sends them. */
export function operationsModule(): string {
  return `import type { OperationTypes } from './operation-types.ts';

export type OperationName = keyof OperationTypes;

${partConstants()}

/** The form of an operation's requests. \`takes\` is the sum of the parts of a request that it takes. */
export type Operation<N extends OperationName = OperationName> = readonly [
  name: N,
  method: string,
  path: string,
  takes: number,
];

${clientRoutes.map(operationRow).join('\n')}
`;
}

/** Parts of a request that the client adds, if the operation takes them. */
const parts = { Token: 1, Body: 2, DeviceId: 4, IdempotencyKey: 8, Proof: 16, DeviceSecret: 32 } as const;

function partConstants(): string {
  return Object.entries(parts)
    .map(([name, value]) => `export const takes${name} = ${value};`)
    .join('\n');
}

function operationRow({ operationId, method, path, auth, body, headers }: Route): string {
  const sum =
    (auth === 'none' ? 0 : parts.Token) +
    (body ? parts.Body : 0) +
    (takesDeviceId(body) ? parts.DeviceId : 0) +
    (headers.includes('Idempotency-Key') ? parts.IdempotencyKey : 0) +
    (headers.includes('DPoP') ? parts.Proof : 0) +
    (headers.includes('X-Device-Secret') ? parts.DeviceSecret : 0);
  const row = [operationId, method.toUpperCase(), path.replace(/:(\w+)/g, '{$1}')].map((text) => `'${text}'`);
  return `export const ${operationId}: Operation<'${operationId}'> = [${row.join(', ')}, ${sum}];`;
}

/** Returns true if the client adds the device's id to the body. */
export function takesDeviceId(body: Schema | undefined): boolean {
  return body?.properties?.device_id !== undefined;
}

/** Prints the types of each operation's input and output, without any import. */
export function operationTypesModule(): string {
  const entries = clientRoutes.map((route) => {
    const { operationId, summary, body, params, success } = route;
    const members = [
      ...(params ? [`    readonly params: { ${Object.keys(params).map(paramOf).join('; ')} };`] : []),
      ...(body ? [`    readonly body: ${typeOf(body as Schema, 2)};`] : []),
      `    readonly data: ${typeOf(dataOf(success.body as Schema, route), 2)};`,
    ];
    return `  /** ${summary}. */\n  readonly ${operationId}: {\n${members.join('\n')}\n  };`;
  });
  return `/** Parameters in the path, body and \`data\` of the success of each operation. */
export interface OperationTypes {
${entries.join('\n')}
}
`;
}

function paramOf(name: string): string {
  return `readonly ${name}: string`;
}

function dataOf(schema: Schema, { operationId }: Route): Schema {
  const data = schema.properties?.data;
  if (data === undefined) throw new Error(`the success of ${operationId} has no data`);
  return data;
}
