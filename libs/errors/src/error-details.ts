import type { DetailFields } from './catalogue/row.ts';
import type { Catalogue, ThrowableCode } from './catalogue.ts';
import type { ValidationItem } from './validation-item.ts';

interface DetailTypes {
  string: string;
  number: number;
  boolean: boolean;
  'string[]': readonly string[];
  object: object;
}

type TypeOf<Word> = Word extends readonly (infer OneOf)[]
  ? OneOf
  : Word extends `${infer Base extends keyof DetailTypes}?`
    ? DetailTypes[Base]
    : Word extends keyof DetailTypes
      ? DetailTypes[Word]
      : never;

type Optional = `${string}?` | readonly string[];

type Simplify<T> = { readonly [K in keyof T]: T[K] };

type FieldsOf<F> = Simplify<
  { [K in keyof F as F[K] extends Optional ? never : K]: TypeOf<F[K]> } & {
    [K in keyof F as F[K] extends Optional ? K : never]?: TypeOf<F[K]>;
  }
>;

/** Details of a code whose row names no fields. */
export type NoDetails = Readonly<Record<string, never>>;

/** `details` that a code takes, as its row defines them. `action` is left out, because the locale adds it. */
export type DetailsOf<C extends ThrowableCode> = C extends ThrowableCode
  ? Catalogue[C] extends { readonly details: infer D }
    ? D extends 'validation-items'
      ? readonly ValidationItem[]
      : D extends DetailFields
        ? FieldsOf<D>
        : never
    : NoDetails
  : never;

/** The HTTP statuses that a code's row allows. */
export type StatusOf<C extends ThrowableCode> = C extends ThrowableCode
  ? Catalogue[C]['http'] | (Catalogue[C] extends { readonly httpAlternatives: readonly (infer S)[] } ? S : never)
  : never;

type HasRequiredDetails<C extends ThrowableCode> = C extends ThrowableCode
  ? Record<never, never> extends DetailsOf<C>
    ? false
    : true
  : never;

/** `true` if any of the codes has required details. */
export type RequiresDetails<C extends ThrowableCode> = true extends HasRequiredDetails<C> ? true : false;
