import type { TSchema } from '../type.ts';
import type { RequestHeader } from './request-headers.ts';

/**
 * Example request of an operation. A test sends each example to the real service with its live fields filled in, and it
 * must succeed.
 */
export interface RequestExample {
  readonly summary: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Settings of the api that switch operations on. A list without items, `false` and no value switch them off. */
export type Switch =
  | 'EMAIL_CODE_LOGIN'
  | 'WEBAUTHN_RP_ID'
  | 'WEBAUTHN_RELATED_ORIGINS'
  | 'APPLE_APP_IDS'
  | 'ANDROID_APPS'
  | 'IDENTITY_PROVIDERS'
  | 'REVOCATION_FEED_SECRETS_FILE';

/**
 * One operation of the HTTP API. The router uses it to mount the operation, validate requests and send answers. The
 * OpenAPI document is generated from it. The use case gets the path's parameters, the body and the caller.
 */
export interface Route {
  readonly operationId: string;
  readonly tag: 'Accounts' | 'Sessions' | 'Groups' | 'Invites' | 'Passkeys' | 'Identities' | 'Keys';
  /**
   * Name of the generated method in the client for apps (`libs/client`), such as `sessions.revoke`. `core` means that
   * the client's own code calls the operation. Null means that no app calls it.
   */
  readonly client: string | null;
  /** Page in docs/specification that has the operation's promises, with their heading. */
  readonly promises: string;
  readonly summary: string;
  /** CommonMark. */
  readonly description: string;
  /** The setting without which there is no such path. {@link enabledIf} adds it, and the error, to rows. */
  readonly enabledIf?: Switch;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path. It is also the route template in logs and metrics. */
  readonly path: string;
  /**
   * `none`: the header is ignored. `bearer`: an access token is required, and its session must not be denied.
   * `signature`: an access token is required, but the deny list is not checked, because a repeated logout must get 404
   * and not 401. `internalService`: the secret of another service is required.
   */
  readonly auth: 'none' | 'bearer' | 'signature' | 'internalService';
  /** Path parameters, by name. The values of parameters named `…_id` reach the use case in lower case. */
  readonly params?: Readonly<Record<string, TSchema>>;
  /**
   * The step by which an answer that shows stored state becomes final. `commit`, the default except for GET: a success
   * by the request's last commit, anything else by a fence, so that a majority of MongoDB has all that was read.
   * `fence`: by a fence also if there was a commit, because the operation reads after it, or has several. `itself`: the
   * operation confirms its answers. `none`, the default for GET: the answer shows no stored state, or may show what is
   * rolled back later.
   */
  readonly finality?: 'commit' | 'fence' | 'itself' | 'none';
  readonly headers: readonly RequestHeader[];
  readonly body?: TSchema;
  /**
   * A token that may be sent in place of JSON: it is the body's `payload`. Its success is 202 without a body, and its
   * refusal is 400 with the body of RFC 8935.
   */
  readonly token?: {
    readonly mediaType: 'application/secevent+jwt';
    /** Example of a token. */
    readonly sent: string;
    readonly accepted: string;
    readonly refused: { readonly description: string; readonly body: TSchema; readonly example: unknown };
  };
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** The success status, and its body. */
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** Description of a 201 with the same body, if the operation can create what it otherwise finds. */
    readonly created?: string;
    readonly body: TSchema;
    readonly example: unknown;
    /** Operations to call next with this answer. The body is an OpenAPI runtime expression. */
    readonly links?: Readonly<Record<string, { readonly operationId: string; readonly requestBody: string }>>;
    /** `Cache-Control` of the success, if it may be cached. Every other answer has `no-store`. */
    readonly cacheControl?: string;
  };
  /** Every error code that the operation can return, by its name in the error catalogue. */
  readonly errors: readonly string[];
  /** Status by code, for codes whose status in this operation differs from the catalogue's. */
  readonly errorStatuses?: Readonly<Record<string, readonly number[]>>;
}

/** Rows of operations that a setting switches on. */
type Switched<S extends Switch, R extends Readonly<Record<string, Route>>> = {
  readonly [N in keyof R]: Omit<R[N], 'errors'> & {
    readonly enabledIf: S;
    readonly errors: readonly [...R[N]['errors'], 'ERR-ROUTE-NOT-FOUND'];
  };
};

/** Returns the rows as those of operations that are there only if the setting is. Otherwise their paths answer 404. */
export function enabledIf<S extends Switch, const R extends Readonly<Record<string, Route>>>(
  setting: S,
  rows: R,
): Switched<S, R> {
  const switched = Object.entries(rows).map(([name, row]) => [
    name,
    { ...row, enabledIf: setting, errors: [...row.errors, 'ERR-ROUTE-NOT-FOUND'] },
  ]);
  return Object.fromEntries(switched);
}
