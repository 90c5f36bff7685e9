import { type Route, type RouteName, routes } from '@auth-account/contracts';
import type { ServerMetadata } from '@auth-account/contracts/http/metadata';
import type { Static, TSchema } from '@auth-account/contracts/type';
import type { Fence } from '@auth-account/stores';
import type { Request, RequestHandler, Response } from 'express';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { WellKnownFiles } from '../security/passkeys/well-known-files.ts';
import { createConfirm } from './confirm-answers.ts';
import type { Handlers } from './mount-routes.ts';
import { callerOf, contextOf, internalServiceOf } from './request-context.ts';
import { sendEmpty, sendJson } from './send-json.ts';

type Routes = typeof routes;
type SuccessOf<N extends RouteName> = Static<Routes[N]['success']['body']>;

/**
 * Names of the routes whose answers have the envelope of a success. The key set (RFC 7517) and the metadata (RFC 8414)
 * have none.
 */
type OperationName = { [N in RouteName]: SuccessOf<N> extends { readonly data: unknown } ? N : never }[RouteName];

/** For each kind of `auth`, reads the caller from the context of the request. */
const callers = {
  none: () => undefined,
  bearer: callerOf,
  signature: callerOf,
  internalService: internalServiceOf,
} as const satisfies Record<Route['auth'], (res: Response) => unknown>;

type CallerOf<A extends Route['auth']> = ReturnType<(typeof callers)[A]>;

/** One string for each parameter of the path. */
type PathValues<P extends string> = P extends `${string}:${string}/${infer Rest}`
  ? [value: string, ...PathValues<Rest>]
  : P extends `${string}:${string}`
    ? [value: string]
    : [];

/**
 * Parts of a request that its route declares, in this order: the values of the path, the body, the caller. The origin
 * comes last. The body has passed its schema, and ids of the path are in lower case.
 */
type ArgumentsOf<N extends RouteName> = [
  ...values: PathValues<Routes[N]['path']>,
  ...body: Routes[N] extends { readonly body: infer B extends TSchema } ? [body: Static<B>] : [],
  ...caller: Routes[N]['auth'] extends 'none' ? [] : [caller: CallerOf<Routes[N]['auth']>],
  origin: RequestOrigin,
];

type DataOf<N extends RouteName> = SuccessOf<N> extends { readonly data: infer D } ? D : never;

interface Replayable<D> {
  readonly data: D;
  /** True if the answer repeats that of an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

interface Creatable<D> {
  readonly data: D;
  /** True if the request has created what it otherwise finds. */
  readonly isCreated: boolean;
}

type OutputOf<N extends RouteName> = 'Idempotency-Key' extends Routes[N]['headers'][number]
  ? Replayable<DataOf<N>>
  : Routes[N]['success'] extends { readonly created: string }
    ? Creatable<DataOf<N>>
    : DataOf<N>;

/**
 * The use case of each route. It takes the parts of the request that the route declares, and may omit trailing parts. A
 * use case that takes other parts does not compile.
 */
export type Operations = {
  readonly [N in OperationName]: (...parts: ArgumentsOf<N>) => Promise<OutputOf<N>>;
};

/** Any one of the operations. */
type AnyOperation = (...parts: unknown[]) => Promise<unknown>;

/** Content of the answers that have no envelope. */
export interface PublicDocuments {
  /** Returns the present keys. */
  readonly publicKeys: () => unknown;
  /** Returns the metadata, with the algorithms of the present keys. */
  readonly metadata: () => ServerMetadata;
  readonly wellKnown: WellKnownFiles;
}

/** Creates the handlers of all routes. */
export function createHandlers(
  operations: Operations,
  { publicKeys, metadata, wellKnown }: PublicDocuments,
  fence: Fence,
): Handlers {
  const all = Object.entries(operations) as [OperationName, AnyOperation][];
  const derived = all.map(([name, operation]) => [name, createHandler(routes[name], operation, fence)]);
  return {
    ...(Object.fromEntries(derived) as Record<OperationName, RequestHandler>),
    listPublicKeys: (_req, res) => sendSuccess(res, routes.listPublicKeys, publicKeys()),
    getServerMetadata: (_req, res) => sendSuccess(res, routes.getServerMetadata, metadata()),
    getOpenidConfiguration: (_req, res) => sendSuccess(res, routes.getOpenidConfiguration, metadata()),
    getAppleApps: (_req, res) => sendSuccess(res, routes.getAppleApps, wellKnown.appleApps),
    getAssetLinks: (_req, res) => sendSuccess(res, routes.getAssetLinks, wellKnown.assetLinks),
    getRelatedOrigins: (_req, res) => sendSuccess(res, routes.getRelatedOrigins, wellKnown.relatedOrigins),
  };
}

function createHandler(route: Route, operation: AnyOperation, fence: Fence): RequestHandler {
  const isIdempotent = route.headers.includes('Idempotency-Key');
  const confirm = createConfirm(route, fence);
  return async (req, res) => {
    const parts = partsOf(route, req, res);
    const output = await confirm((origin) => operation(...parts, origin), contextOf(res));
    if (contextOf(res).isEventToken) {
      sendEmpty(res, 202);
      return;
    }
    const isWrapped = isIdempotent || route.success.created !== undefined;
    const { data, ...flags } = (isWrapped ? output : { data: output }) as { readonly data?: unknown } & Flags;
    if (flags.isReplayed) res.setHeader('Idempotency-Replayed', 'true');
    sendSuccess(res, route, { status: 'success', data }, flags.isCreated ? 201 : route.success.status);
  };
}

type Flags = Partial<Pick<Replayable<unknown> & Creatable<unknown>, 'isReplayed' | 'isCreated'>>;

function partsOf(route: Route, { params, body }: Request, res: Response): unknown[] {
  const values = Object.entries(params).map(([name, value]) =>
    name.endsWith('_id') ? String(value).toLowerCase() : value,
  );
  return [...values, ...(route.body ? [body] : []), ...(route.auth === 'none' ? [] : [callers[route.auth](res)])];
}

function sendSuccess(
  res: Response,
  { success: { status: usual, cacheControl } }: Route,
  body: unknown,
  status = usual,
): void {
  if (cacheControl !== undefined) res.setHeader('Cache-Control', cacheControl);
  sendJson(res, status, body);
}
