import type { DetailTypes } from '../http/error-body.ts';
import type { JsonObject } from './publish-schema.ts';

/** An example answer for an error code, built by the same functions as the real answers. */
export interface ErrorExample {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Documentation of an error code: its row in the catalogue, and at least one example for each status. */
export interface DocumentedError {
  readonly statuses: readonly number[];
  readonly meaning: string;
  /** The client's or the system's reaction, in words. */
  readonly advice: string;
  /** The same reaction for programs: a type and its parameters. */
  readonly reaction: JsonObject;
  readonly retry: string;
  readonly details?: DetailTypes | undefined;
  readonly examples: readonly ErrorExample[];
}

export type DocumentedErrors = Readonly<Record<string, DocumentedError>>;
