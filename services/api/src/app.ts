import { routes } from '@auth-account/contracts';
import type { Logger } from '@auth-account/telemetry';
import cors from 'cors';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Histogram } from 'prom-client';
import type { Audit } from './audit/audit.ts';
import { mountDocs } from './http/docs/mount-docs.ts';
import { inSequence } from './http/in-sequence.ts';
import { beginRequest, requireRequestId } from './http/middleware/begin-request.ts';
import { handleError, type OnMissingKey, refuseUnknownRoute } from './http/middleware/handle-error.ts';
import { observeRequest, type RequestLabels } from './http/middleware/observe-request.ts';
import { type MountDeps, mountRoutes, nameRoute, serveIssuerPath } from './http/mount-routes.ts';

export interface AppDeps extends MountDeps {
  /** `TOKEN_ISSUER`. */
  readonly issuer: string;
  readonly requestIdMode: 'require' | 'generate';
  /**
   * Number of our own proxies in front of the api. The same number of IP addresses at the right end of
   * `X-Forwarded-For` is trusted.
   */
  readonly trustedProxyHops: number;
  /** Origins of pages that may use the api. */
  readonly allowedOrigins: readonly string[];
  readonly logger: Logger;
  readonly audit: Audit;
  readonly requestDuration: Pick<Histogram<RequestLabels>, 'observe'>;
  readonly onMissingKey: OnMissingKey;
}

/**
 * The headers of the OWASP REST Security Cheat Sheet. Helmet's other headers are for pages, and the api answers with
 * data.
 */
const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

const preflightSeconds = 7_200;

/**
 * Answers preflights, and lets pages of exactly these origins read answers (Fetch Standard, "CORS protocol"). No cookie
 * belongs to the api, so credentials are never allowed.
 */
function allowOrigins(origins: readonly string[]): RequestHandler {
  const sent = Object.values(routes).flatMap(({ headers }): readonly string[] => headers);
  return cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      ...new Set(['Authorization', 'Content-Type', 'Accept-Language', 'X-Request-ID', 'traceparent', ...sent]),
    ],
    exposedHeaders: ['Date', 'Retry-After', 'WWW-Authenticate', 'X-Error-Code', 'X-Request-ID', 'Idempotency-Replayed'],
    maxAge: preflightSeconds,
  });
}

// An answer of an account service is nobody else's. What may be cached says so itself.
const noStore: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/** Creates the HTTP API as an Express application. It opens no connection and no port. */
export function createApp(deps: AppDeps): Express {
  const {
    issuer,
    requestIdMode,
    trustedProxyHops,
    allowedOrigins,
    logger,
    audit,
    requestDuration,
    onMissingKey,
    ...mount
  } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', trustedProxyHops);
  app.use(
    inSequence([
      securityHeaders,
      noStore,
      serveIssuerPath(issuer),
      beginRequest,
      nameRoute(),
      observeRequest(logger, requestDuration),
    ]),
  );
  // Before the request id, because a browser's preflight has none.
  if (allowedOrigins.length > 0) app.use(allowOrigins(allowedOrigins));
  // Providers of identities send no request id.
  app.use('/api/v1/hooks', requireRequestId('generate'));
  app.use(/^\/api\/v1(?=\/|$)(?!\/hooks\/)/, requireRequestId(requestIdMode));
  mountRoutes(app, mount);
  mountDocs(app);
  app.use(refuseUnknownRoute);
  // Registered twice. If answers are validated and the contract forbids the first handler's answer, the second handler
  // answers.
  app.use(handleError(logger, audit, onMissingKey), handleError(logger, audit, onMissingKey));
  return app;
}
