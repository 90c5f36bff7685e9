import type { Logger } from '@auth-account/telemetry';
import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Histogram } from 'prom-client';
import type { Audit } from './audit/audit.ts';
import { mountDocs } from './http/docs/mount-docs.ts';
import { inSequence } from './http/in-sequence.ts';
import { beginRequest, requireRequestId } from './http/middleware/begin-request.ts';
import { handleError, refuseUnknownRoute } from './http/middleware/handle-error.ts';
import { observeRequest, type RequestLabels } from './http/middleware/observe-request.ts';
import { type MountDeps, mountRoutes, nameRoute } from './http/mount-routes.ts';

export interface AppDeps extends MountDeps {
  readonly requestIdMode: 'require' | 'generate';
  /** Number of our own proxies in front: this many addresses of `X-Forwarded-For` are trusted, from the right. */
  readonly trustedProxyHops: number;
  readonly logger: Logger;
  readonly audit: Audit;
  readonly requestDuration: Histogram<RequestLabels>;
}

/** OWASP REST Security Cheat Sheet: answers are data, never a page; the rest of helmet's set is for pages. */
const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The HTTP API as an Express application; it opens nothing. */
export function createApp(deps: AppDeps): Express {
  const { requestIdMode, trustedProxyHops, logger, audit, requestDuration, ...mount } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', trustedProxyHops);
  app.use(inSequence([securityHeaders, beginRequest, nameRoute(), observeRequest(logger, requestDuration)]));
  app.use('/api/v1', requireRequestId(requestIdMode));
  mountRoutes(app, mount);
  mountDocs(app);
  app.use(refuseUnknownRoute);
  // Registered twice: if answers are validated, the second one answers for an error that the first may not send.
  app.use(handleError(logger, audit), handleError(logger, audit));
  return app;
}
