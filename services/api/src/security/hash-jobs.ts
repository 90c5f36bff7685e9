import type { Argon2Binding } from './argon2-binding.ts';
import type { BcryptBinding } from './bcrypt-binding.ts';

/** What a hash thread can be asked to do. */
export interface HashJobs {
  hash: Argon2Binding['hash'];
  verify: Argon2Binding['verify'];
  verifyBcrypt: BcryptBinding['verify'];
}

/** One job as it travels to a hash thread, which has one at a time. */
export type HashJob = {
  [Kind in keyof HashJobs]: { readonly kind: Kind; readonly args: Parameters<HashJobs[Kind]> };
}[keyof HashJobs];

/** What a hash thread says first: which Argon2 binding it has, and why not the faster one. */
export interface HashThreadHello {
  readonly argon2Name: string;
  readonly fallbackReason?: unknown;
}

/** The answer to a job. */
export type HashJobResult = { readonly value: unknown } | { readonly error: unknown };
