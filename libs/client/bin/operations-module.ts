import type { Route } from '@auth-account/contracts';
import { clientRoutes, generatedNotice } from './client-routes.ts';

/** Operations that the core needs itself, whatever their subject. */
const ofCore: readonly string[] = ['registerAccount', 'findAccount'];

const tables = ['core', 'account', 'household'] as const;
type Table = (typeof tables)[number];
const tableOfTag: Readonly<Record<string, Table>> = { Accounts: 'account', Groups: 'household', Invites: 'household' };

/** The operations as the client calls them: method, path and, with 1, the access token; a table for each group. */
export function operationsModule(): string {
  return `${generatedNotice}
/** Method, path, and 1 if the operation wants the access token. */
export type Operation = readonly [method: string, path: string, wantsToken: 0 | 1];
${tables.map(printedTable).join('')}
export type OperationName =
${tables.map((name) => `  | keyof typeof ${name}Operations`).join('\n')};
export type Operations = Readonly<Partial<Record<OperationName, Operation>>>;
`;
}

function tableOf({ operationId, tag }: Route): Table {
  return ofCore.includes(operationId) ? 'core' : (tableOfTag[tag] ?? 'core');
}

function printedTable(table: Table): string {
  const rows = clientRoutes
    .filter((route) => tableOf(route) === table)
    .map(({ operationId, method, path, auth }) => {
      const template = path.replace(/:(\w+)/g, '{$1}');
      const row = [`'${method.toUpperCase()}'`, `'${template}'`, auth === 'none' ? '0' : '1'];
      return `  ${operationId}: [${row.join(', ')}],`;
    });
  return `
export const ${table}Operations = {
${rows.join('\n')}
} as const satisfies Record<string, Operation>;
`;
}
