import { type Route, type RouteName, routes, type Switch } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import { nameActiveRoute } from '@auth-account/telemetry';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Express, RequestHandler } from 'express';
import type { ApiConfig } from '../config.ts';
import type { FindInternalService } from '../security/internal-service-secrets.ts';
import type { VerifyDeviceProof } from '../security/verify-device-proof.ts';
import { checkAnswersOf } from './check-answers.ts';
import { inSequence } from './in-sequence.ts';
import { authenticate } from './middleware/authenticate.ts';
import { authenticateInternalService } from './middleware/authenticate-internal-service.ts';
import { jsonBody, tokenOrJsonBody } from './middleware/json-body.ts';
import { readDeviceProof } from './middleware/read-device-proof.ts';
import { readHeaders } from './middleware/read-header.ts';
import { validateBody } from './middleware/validate-body.ts';
import { contextOf, extendContext } from './request-context.ts';
import type { BodyCheck, BodyChecks } from './validation/body-checks.ts';

/** One handler for each route of the contract. A missing or extra handler does not compile. */
export type Handlers = Readonly<Record<RouteName, RequestHandler>>;

export interface MountDeps {
  readonly handlers: Handlers;
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  /** Raises `IAD_JWT_ACCESS_INVALID` if the deny list refuses the token. */
  readonly assertNotDenied: (caller: VerifiedAccessToken) => Promise<void>;
  readonly verifyDeviceProof: VerifyDeviceProof;
  /** Finds the internal service by its credential. */
  readonly findInternalService: FindInternalService;
  /** The settings that switch operations on. */
  readonly switches: Pick<ApiConfig, Switch>;
  /** Checks of bodies in addition to the schemas. */
  readonly bodyChecks?: BodyChecks;
  /** True in tests, so that an answer that the operation does not declare becomes a 500. */
  readonly validateResponses: boolean;
}

/**
 * Mounts the route table, without the operations that the settings switch off. Each route runs its checks in the
 * contract's order, then its handler. Other methods get 405.
 */
export function mountRoutes(app: Express, deps: MountDeps): void {
  const { handlers, verifyDeviceProof, bodyChecks = {}, validateResponses, switches } = deps;
  const table = Object.entries(routes) as [RouteName, Route][];
  const all = table.filter(([, { enabledIf }]) => enabledIf === undefined || isOn(switches[enabledIf]));
  for (const [name, route] of all) {
    const steps = [
      ...(route.auth === 'none' ? [] : [markGuarded]),
      ...(validateResponses ? [checkAnswersOf(route)] : []),
      ...authentication(route, deps),
      ...readBody(route, bodyChecks[name]),
      ...readHeaders(route.headers),
      ...(route.headers.includes('DPoP') ? [readDeviceProof(verifyDeviceProof, name === 'refreshTokens')] : []),
      handlers[name],
    ];
    app[route.method](route.path, inSequence(steps));
  }
  app.use(refuseOtherMethods(all.map(([, route]) => route)));
}

function isOn(setting: unknown): boolean {
  return Array.isArray(setting) ? setting.length > 0 : setting !== undefined && setting !== false;
}

/** Refuses requests for the path of a route by a method that it has not. Express has had its turn before. */
function refuseOtherMethods(all: readonly Route[]): RequestHandler {
  const allowed = new Map(
    [...Map.groupBy(all, ({ path }) => path)].map(([path, group]) => {
      // Express answers HEAD with the handler of GET.
      const methods = group.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
      return [path, methods.join(', ')] as const;
    }),
  );
  return (_req, res, next) => {
    const { route } = contextOf(res);
    const Allow = route === undefined ? undefined : allowed.get(route);
    if (Allow !== undefined) throw new AppError('ERR-METHOD-NOT-ALLOWED', { headers: { Allow } });
    next();
  };
}

/** Returns the handlers that read and check the body, if the route has one. */
function readBody({ body, token }: Route, check: BodyCheck | undefined): readonly RequestHandler[] {
  return body ? [...(token ? tokenOrJsonBody : jsonBody), validateBody(body, check)] : [];
}

/**
 * Marks the request as one that needs authorization. {@link nameRoute} cannot do this, because that handler ignores the
 * method.
 */
const markGuarded: RequestHandler = (_req, res, next) => {
  extendContext(res, { isGuarded: true });
  next();
};

function authentication({ auth }: Route, deps: MountDeps): RequestHandler[] {
  const { verifyAccessToken: verify, assertNotDenied, findInternalService } = deps;
  if (auth === 'none') return [];
  if (auth === 'internalService') return [authenticateInternalService(findInternalService)];
  return [authenticate({ verify, assertNotDenied: auth === 'bearer' ? assertNotDenied : undefined })];
}

/**
 * Serves the metadata where RFC 8414 section 3.1 puts those of an issuer with a path: `https://host/path` has them at
 * `https://host/.well-known/oauth-authorization-server/path`. Express's own matching of paths then finds the route.
 */
export function serveIssuerPath(issuer: string): RequestHandler {
  const { path } = routes.getServerMetadata;
  const ofIssuer = path + new URL(issuer).pathname.replace(/\/$/, '');
  const places = ofIssuer === path ? [] : [ofIssuer, `${ofIssuer}/`];
  return (req, _res, next) => {
    if (places.includes(req.path)) req.url = path;
    next();
  };
}

/**
 * Names the route for logs, metrics and traces before anything can fail. Only the path matters, so even a 405 gets a
 * route's name.
 */
export function nameRoute(): RequestHandler {
  const templates = [...new Set<string>(Object.values(routes).map(({ path }) => path))];
  const plain = new Set(templates.filter((path) => !path.includes(':')));
  const patterns = templates
    .filter((path) => path.includes(':'))
    .map((path) => [path, new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)] as const);
  return (req, res, next) => {
    const route = plain.has(req.path) ? req.path : patterns.find(([, pattern]) => pattern.test(req.path))?.[0];
    if (route !== undefined) {
      extendContext(res, { route });
      nameActiveRoute(req.method, route);
    }
    next();
  };
}
