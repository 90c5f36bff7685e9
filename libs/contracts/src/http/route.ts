import type { TSchema } from 'typebox';
import type { RequestHeader } from './request-headers.ts';

/** Example request of an operation. A test sends each of them for real, and it must succeed. */
export interface RequestExample {
  readonly summary: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * One operation of the HTTP API: the router mounts, validates and answers by it, its use case takes the parameters of
 * its path, its body and its caller, and the OpenAPI document is generated from it.
 */
export interface Route {
  readonly operationId: string;
  readonly tag: 'Accounts' | 'Sessions' | 'Groups' | 'Invites' | 'Keys';
  /**
   * Method of the client for apps (`libs/client`), which is generated: `sessions.revoke`. `core`: the client's own code
   * calls it. Null: no app does.
   */
  readonly client: string | null;
  readonly summary: string;
  /** CommonMark. */
  readonly description: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path; also the route template in logs and metrics. */
  readonly path: string;
  /**
   * `none`: the header is ignored. `bearer`: an access token is required, and its session must not be denied.
   * `signature`: an access token is required, but the deny list is not asked: a repeated logout must answer 404, not 401.
   * `sibling`: the secret of another service is required.
   */
  readonly auth: 'none' | 'bearer' | 'signature' | 'sibling';
  /** Path parameters, by name. The use case gets those named `…_id` in lower case. */
  readonly params?: Readonly<Record<string, TSchema>>;
  readonly headers: readonly RequestHeader[];
  readonly body?: TSchema;
  /** Query parameters, by name. */
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** The only success status, and its body. */
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly body: TSchema;
    readonly example: unknown;
    /** Operations to call next with this answer; the body is an OpenAPI runtime expression. */
    readonly links?: Readonly<Record<string, { readonly operationId: string; readonly requestBody: string }>>;
    /** `Cache-Control` of the success alone: errors must not be cached. */
    readonly cacheControl?: string;
  };
  /** True if the answer can carry a token, also in an error's details: every answer has `Cache-Control: no-store`. */
  readonly carriesToken: boolean;
  /** Every error code that the operation can answer, as named in the error catalogue. */
  readonly errors: readonly string[];
  /** Statuses of this operation by code, if they differ from those of the code's row in the catalogue. */
  readonly errorStatuses?: Readonly<Record<string, readonly number[]>>;
}
