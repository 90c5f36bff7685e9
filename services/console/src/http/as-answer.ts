/** A value as it is after `JSON.stringify`: with each `Date` as ISO 8601. */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T;

/** Gives a value that will be sent the type that it has for the receiver. */
export const asAnswer = <T>(value: T): Json<T> => value as unknown as Json<T>;
