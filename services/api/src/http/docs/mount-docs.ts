import { readFile } from 'node:fs/promises';
import { AppError } from '@auth-account/errors';
import type { Express, RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

/** A file of the documentation page, with its type and its bytes. */
interface Page {
  readonly type: string;
  read(): string | Promise<Buffer>;
}

/**
 * Allows only what the page needs: its own scripts and styles, the document from this host, and the images that the
 * style sheet holds as data. It allows style attributes, because Swagger UI sets them.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page at `/docs`. Its scripts are separate files, so that the policy can forbid inline scripts. */
const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Authentication and Account Service: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Without the URL of a validator, Swagger UI sends requests to no other host. */
const docsStart = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  requestSnippetsEnabled: false,
});
`;

const javascript = 'text/javascript; charset=utf-8';

/** The answer at `/`, for a person who knows only the host's name. */
const entrance = JSON.stringify({
  name: 'auth-account',
  docs: '/docs',
  openapi: '/openapi.json',
  asyncapi: '/asyncapi.json',
  api: '/api/v1',
});

/**
 * Serves the OpenAPI document at `/openapi.json` and its page at `/docs`, the AsyncAPI document of the push streams at
 * `/asyncapi.json` and its page at `/docs/stream`, and links to all of them at `/`. Nothing comes from another host.
 */
export function mountDocs(app: Express): void {
  const documents = () => import('./documents.ts');
  const streams = async () => (await documents()).streamDocument();
  const pages: Record<string, Page> = {
    '/': { type: 'application/json', read: () => entrance },
    '/openapi.json': { type: 'application/json', read: once(async () => (await documents()).apiDocument()) },
    '/asyncapi.json': { type: 'application/json', read: once(streams) },
    '/docs': { type: 'text/html; charset=utf-8', read: () => docsPage },
    '/docs/stream': {
      type: 'text/html; charset=utf-8',
      read: once(async () => (await import('./stream-page.ts')).streamPage(await streams())),
    },
    '/docs/start.js': { type: javascript, read: () => docsStart },
    '/docs/swagger-ui.js': {
      type: javascript,
      read: bundleFile(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    },
    '/docs/swagger-ui.css': {
      type: 'text/css; charset=utf-8',
      read: bundleFile(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
    },
  };
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, servePage(path, page));
    app.all(path, () => {
      throw new AppError('ERR-METHOD-NOT-ALLOWED', { headers: { Allow: 'GET, HEAD' } });
    });
  }
}

function servePage(path: string, { type, read }: Page): RequestHandler {
  return async (_req, res) => {
    extendContext(res, { route: path });
    const body = await read();
    res.setHeader('Content-Security-Policy', contentSecurityPolicy);
    res.setHeader('Cache-Control', 'public, max-age=300');
    res.setHeader('Content-Type', type);
    res.end(body);
  };
}

function bundleFile(url: string): () => Promise<Buffer> {
  return once(() => readFile(new URL(url)));
}

/**
 * Makes a document on its first use, because most processes never show it. It is kept as bytes, which all answers share.
 * A text would be converted for each answer, and slow readers would hold the copies.
 */
function once(make: () => Promise<string | Buffer>): () => Promise<Buffer> {
  let bytes: Promise<Buffer> | undefined;
  return () => {
    bytes ??= make()
      .then((made) => Buffer.from(made))
      .catch((error: unknown) => {
        bytes = undefined; // the next request tries again
        throw error;
      });
    return bytes;
  };
}
