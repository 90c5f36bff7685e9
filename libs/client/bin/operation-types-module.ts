import type { Route } from '@auth-account/contracts';
import { clientRoutes, generatedNotice } from './client-routes.ts';
import { type Schema, typeOf } from './type-of.ts';

/** Returns the types of what each operation takes and gives, without any import. */
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
  return `${generatedNotice}
/** Parameters in the path, body and \`data\` of the success of each operation. */
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
