import type { Logger } from '@auth-account/telemetry';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { beginRequest } from './http/begin-request.ts';
import { handleError } from './http/handle-error.ts';
import { type MountDeps, mountRoutes, type SessionRoute } from './http/mount-routes.ts';
import { mountPage, type PageFiles } from './http/page-files.ts';
import { mountSignIn, type SignInDeps } from './http/sign-in-routes.ts';
import { ConsoleError } from './runtime/console-error.ts';
import type { ConsoleMetrics } from './runtime/metrics.ts';

export interface AppDeps extends MountDeps, Omit<SignInDeps, 'metrics'> {
  readonly routes: readonly SessionRoute[];
  readonly trustedProxyHops: number;
  readonly logger: Logger;
  readonly metrics: ConsoleMetrics;
  readonly readPage: () => Promise<PageFiles>;
}

/** Lets the page load and ask only what is its own (Content Security Policy Level 3). No other host is named. */
function securityHeaders(origin: string): RequestHandler {
  const directives = {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  };
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    strictTransportSecurity: origin.startsWith('https:'),
    xFrameOptions: { action: 'deny' },
  });
}

const noStore: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};

const refuseUnknown: RequestHandler = () => {
  throw new ConsoleError('unknown', 'There is nothing at this path.');
};

/** Creates the console as an Express application. It opens no connection and no port. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');
  app.set('trust proxy', deps.trustedProxyHops);
  app.use(beginRequest(deps.metrics), securityHeaders(deps.origin), noStore);
  mountRoutes(app, deps.routes, deps);
  mountSignIn(app, deps);
  mountPage(app, deps.readPage);
  app.use(refuseUnknown);
  app.use(handleError(deps.logger));
  return app;
}
