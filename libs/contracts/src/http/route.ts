import type { TSchema } from 'typebox';
import type { RequestHeader } from './request-headers.ts';

/** A request that documents its operation. A test sends each of them for real, and it must succeed. */
export interface RequestExample {
  readonly summary: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** One operation of the HTTP API: what the router mounts, validates and answers, and what OpenAPI says of it. */
export interface Route {
  readonly operationId: string;
  readonly tag: 'Accounts' | 'Sessions' | 'Groups' | 'Invites' | 'Keys';
  readonly summary: string;
  /** CommonMark. */
  readonly description: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path; also the route template in logs and metrics. */
  readonly path: string;
  /**
   * `none`: the header is ignored. `bearer`: an access token is required, and its session must not be denied.
   * `signature`: an access token is required, but the deny list is not asked: a repeated logout must answer 404, not 401.
   */
  readonly auth: 'none' | 'bearer' | 'signature';
  /** Of the path, by name. */
  readonly params?: Readonly<Record<string, TSchema>>;
  readonly headers: readonly RequestHeader[];
  readonly body?: TSchema;
  /** By name. */
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** The one success status and its body. */
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly body: TSchema;
    readonly example: unknown;
    /** Operations to call next with this answer, and their bodies, which may hold OpenAPI runtime expressions. */
    readonly links?: Readonly<
      Record<string, { readonly operationId: string; readonly requestBody: Readonly<Record<string, string>> }>
    >;
    /** `Cache-Control` of the success alone: errors are not to be kept. */
    readonly cacheControl?: string;
  };
  /** The answer can carry a token, also in an error's details: every answer has `Cache-Control: no-store`. */
  readonly carriesToken: boolean;
  /** Every error code that the operation can answer, in the words of the error catalogue. */
  readonly errors: readonly string[];
  /** By code: the statuses of this operation, if they differ from those of the code's row in the catalogue. */
  readonly errorStatuses?: Readonly<Record<string, readonly number[]>>;
}
