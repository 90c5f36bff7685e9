import { coreReactions } from '../generated/core-reactions.ts';
import type { ErrorCode, OwnErrorCode, Reaction, Retry } from '../generated/reactions.ts';
import { type RaisedCode, textOf } from './error-texts.ts';

export type ClientErrorCode = Exclude<RaisedCode, ErrorCode>;

/** Codes after which the same call may succeed. */
const passing = ['CLIENT_NETWORK', 'CLIENT_TIMEOUT', 'CLIENT_UNEXPECTED_ANSWER', 'CLIENT_STATE_UNKNOWN'] as const;

/**
 * A code of the service or of the client. For a code that this version does not know, the reaction follows from the
 * status.
 */
export type AnyErrorCode = ErrorCode | ClientErrorCode | (string & {});

export interface AuthErrorInit {
  readonly status?: number;
  readonly message?: string;
  readonly details?: AuthError['details'];
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * A call that failed, and the reaction to it. It never contains a token, an email address or a password. The message is
 * the service's own or the client's, in the user's language.
 */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  // The fields are only declared here. The constructor sets them all at once, so that their names stay out of the
  // bundle.
  declare readonly code: AnyErrorCode;
  /** HTTP status; 0 if there was no answer. */
  declare readonly status: number;
  /** The answer's `details`. For `ERR-VALIDATION-FAILED` they list every violation. */
  declare readonly details: Readonly<Record<string, unknown>> | readonly unknown[];
  declare readonly requestId: string | undefined;
  /** Shortest pause before the next try, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  declare readonly reaction: Reaction;
  /** Says whether and when the same call may succeed. */
  declare readonly retry: Retry;

  constructor(code: RaisedCode | ErrorCode, init?: AuthErrorInit);
  constructor(code: string, init: AuthErrorInit & { readonly message: string });
  constructor(code: string, init: AuthErrorInit = {}) {
    const { status = 0, message, details = {}, requestId, retryAfterMs } = init;
    const [reaction, retry = 'never'] = rowOf(code, status);
    super(message ?? textOf(code));
    Object.assign(this, { code, status, details, requestId, retryAfterMs, reaction, retry });
  }
}

type Rows = Readonly<Record<OwnErrorCode, readonly [Reaction, Retry?]>>;

/** The rows of the codes that this client may get. */
const rows = { ...coreReactions } as unknown as Rows;

/** Adds the rows of the codes that only operations of groups return. */
export function addReactions(added: Partial<Rows>): void {
  Object.assign(rows, added);
}

/** Returns true if the code is one of the service's codes that this version of the client knows. */
export function isCatalogueCode(code: string): code is OwnErrorCode {
  return Object.hasOwn(rows, code);
}

function rowOf(code: string, status: number): readonly [Reaction, Retry?] {
  if (isCatalogueCode(code)) return rows[code];
  if (code === 'CLIENT_SIGNED_OUT') return [{ type: 'LOGIN' }];
  const passes = status === 408 || status === 429 || status >= 500 || (passing as readonly string[]).includes(code);
  return passes ? [{ type: 'RETRY_WITH_BACKOFF' }, 'after_delay'] : [{ type: 'FIX_REQUEST' }];
}

/** Returns true if the answer was lost, so that it is unknown whether the service did the work. */
export function isLost(error: unknown): boolean {
  return error instanceof AuthError && (error.code === 'CLIENT_NETWORK' || error.code === 'CLIENT_TIMEOUT');
}

/** Sends a request once more if its answer was lost. */
export function sentTwice<T>(send: () => Promise<T>): Promise<T> {
  return send().catch((error) => {
    if (isLost(error)) return send();
    throw error;
  });
}
