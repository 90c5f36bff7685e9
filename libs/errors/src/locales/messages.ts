import type { DetailFields } from '../catalogue/row.ts';
import type { Catalogue, ErrorCode } from '../catalogue.ts';

/** Text for the user: what happened, and what to do now. Neither part ever contains a value from the request. */
export interface MessageText {
  readonly message: string;
  readonly action: string;
}

/** The texts of a code, in the type that all codes share. */
export interface CodeText extends MessageText {
  /** Texts that replace the code's own text, by a field of its details and the word in that field. */
  readonly variants?: Readonly<Record<string, Readonly<Record<string, MessageText>>>>;
}

type FieldsOf<C extends ErrorCode> = Catalogue[C] extends { readonly details: infer D extends DetailFields }
  ? D
  : object;

/** The fields of a code's details whose type is a list of words. */
type WordsOf<Fields> = { readonly [K in keyof Fields as Fields[K] extends readonly string[] ? K : never]: Fields[K] };

type VariantsOf<Words> = {
  readonly [K in keyof Words]: Words[K] extends readonly (infer Word extends string)[]
    ? Readonly<Record<Word, MessageText>>
    : never;
};

type TextOf<Words> = keyof Words extends never ? MessageText : MessageText & { readonly variants: VariantsOf<Words> };

/** The texts of a language. A code or a word that lacks a text does not compile. */
export type Messages = { readonly [C in ErrorCode]: TextOf<WordsOf<FieldsOf<C>>> };
