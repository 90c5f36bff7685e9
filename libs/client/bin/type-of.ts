/** The part of JSON Schema that the contract uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

const simple: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * Returns the TypeScript type of the values that the schema accepts, indented by `level` levels. Throws if the schema
 * has no such type.
 */
export function typeOf(schema: Schema, level: number): string {
  // Beside properties it says which of them are needed, which the type leaves open.
  if (schema.anyOf && !schema.properties) return schema.anyOf.map((option) => typeOf(option, level)).join(' | ');
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.items) return `readonly ${itemType(schema.items, level)}[]`;
  if (schema.properties) return objectType(schema, level);
  const types = [schema.type ?? []].flat().map((type) => simple[type]);
  if (types.length === 0 || types.includes(undefined)) throw new Error(`no type for ${JSON.stringify(schema)}`);
  return types.join(' | ');
}

function itemType(schema: Schema, level: number): string {
  const type = typeOf(schema, level);
  return schema.properties || !type.includes(' | ') ? type : `(${type})`;
}

function objectType({ properties = {}, required = [] }: Schema, level: number): string {
  const indent = '  '.repeat(level + 1);
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...(member.description ? [`${indent}/** ${member.description} */`] : []),
    memberLine(`${indent}readonly ${name}${required.includes(name) ? '' : '?'}:`, member, level + 1),
  ]);
  return `{\n${members.join('\n')}\n${'  '.repeat(level)}}`;
}

/** Breaks a long union as Biome does. */
function memberLine(head: string, member: Schema, level: number): string {
  const line = `${head} ${typeOf(member, level)};`;
  if (line.length <= 120 || !member.enum) return line;
  return `${head}${member.enum.map((value) => `\n${'  '.repeat(level + 1)}| ${literal(value)}`).join('')};`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
