import type { TSchema } from '@auth-account/contracts/type';
import { emailAsMeant } from '@auth-account/stores';
import { codeAsMeant } from '../../security/as-meant.ts';

/** The parts of a schema by which a value is read. */
interface Readable {
  readonly readAs?: keyof typeof readers;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Readable>>;
  readonly required?: readonly string[];
}

/** The values of our own keyword `readAs`: forms in which a text may be written. */
const readers = {
  code: codeAsMeant,
  email: emailAsMeant,
  /** Base64url with padding is that without. */
  bytes: (text: string) => text.replace(/={1,2}$/, ''),
} as const satisfies Record<string, (text: string) => string>;

/**
 * Returns a value as its sender means it, before its schema is checked: null for an optional member that cannot be null
 * is an absent member, and texts are read by the schema's keyword `readAs`. Nothing else changes.
 */
export function readAsMeant(schema: TSchema, value: unknown): unknown {
  return read(schema as Readable, value);
}

function read({ readAs, properties, required = [] }: Readable, value: unknown): unknown {
  if (typeof value === 'string') return readAs === undefined ? value : readers[readAs](value);
  if (properties === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own === undefined) return [[name, member]];
    const isAbsent = member === null && !required.includes(name) && !takesNull(own);
    return isAbsent ? [] : [[name, read(own, member)]];
  });
  return Object.fromEntries(members);
}

function takesNull({ type, enum: values }: Readable): boolean {
  return [type].flat().includes('null') || values?.includes(null) === true;
}
