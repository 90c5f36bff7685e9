import type { ErrorCode } from '../catalogue.ts';

/** What a user reads: what happened, and what to do now. Neither ever holds a value from the request. */
export interface MessageText {
  readonly message: string;
  readonly action: string;
}

export type Messages = Readonly<Record<ErrorCode, MessageText>>;
