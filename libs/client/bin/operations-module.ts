import { clientRoutes, generatedNotice } from './client-routes.ts';

/** The operations as the client calls them: method, path and, with 1, the access token. */
export function operationsModule(): string {
  const rows = clientRoutes.map(({ operationId, method, path, auth }) => {
    const template = path.replace(/:(\w+)/g, '{$1}');
    const row = [`'${method.toUpperCase()}'`, `'${template}'`, auth === 'none' ? '0' : '1'];
    return `  ${operationId}: [${row.join(', ')}],`;
  });
  return `${generatedNotice}
/** Method, path, and 1 if the operation wants the access token. */
export type Operation = readonly [method: string, path: string, wantsToken: 0 | 1];

export const operations = {
${rows.join('\n')}
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
`;
}
