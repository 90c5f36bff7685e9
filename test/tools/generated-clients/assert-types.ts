/** The parts of an OpenAPI document that contain the codes with which an operation answers. */
export interface ErrorDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content: { readonly 'application/json': Content } }>>;
}
interface Content {
  readonly examples?: Readonly<Record<string, { readonly value: { readonly error_code: string } }>>;
}

const head = `import type { operations } from './api.d.ts';

type CodeOf<Id extends keyof operations, Status extends keyof operations[Id]['responses']> =
  operations[Id]['responses'][Status] extends { content: { 'application/json': { error_code: infer Code } } }
    ? Code
    : never;
type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type OrObject<H> = [H] extends [never] ? object : H;
type Header<Id extends keyof operations> = OrObject<NonNullable<operations[Id]['parameters']['header']>>;
`;

/**
 * Returns a TypeScript file that compiles only if no call has to pass `X-Request-ID`, and if the generated types name,
 * for each operation and status, exactly the codes of the document's examples.
 */
export function typeAssertions({ paths }: ErrorDocument): string {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const codes = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const { examples = {} } = content['application/json'];
      const union = [...new Set(Object.values(examples).map(({ value }) => `'${value.error_code}'`))].join(' | ');
      return Number(status) < 400 ? [] : [`true satisfies Equal<CodeOf<'${operationId}', ${status}>, ${union}>;`];
    }),
  );
  const headers = operations.map(({ operationId }) => `({}) satisfies Header<'${operationId}'>;`);
  return [head, ...codes, ...headers, ''].join('\n');
}
