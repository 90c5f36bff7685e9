import type { Logger } from '@auth-account/telemetry';
import express, { type Express } from 'express';
import type { Histogram } from 'prom-client';
import { beginRequest } from './http/middleware/begin-request.ts';
import { handleError } from './http/middleware/handle-error.ts';
import { observeRequest, type RequestLabels } from './http/middleware/observe-request.ts';
import { requireRequestId } from './http/middleware/require-request-id.ts';
import { type MountDeps, mountRoutes, nameRoute } from './http/mount-routes.ts';

export interface AppDeps extends MountDeps {
  readonly requestIdMode: 'require' | 'generate';
  readonly logger: Logger;
  readonly requestDuration: Histogram<RequestLabels>;
}

/** The HTTP API as an Express application; it opens nothing. */
export function createApp({ requestIdMode, logger, requestDuration, ...mount }: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(beginRequest, nameRoute(), observeRequest(logger, requestDuration));
  app.use('/api/v1', requireRequestId(requestIdMode));
  mountRoutes(app, mount);
  app.use(handleError(logger));
  return app;
}
