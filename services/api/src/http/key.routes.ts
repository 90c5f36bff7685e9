import { routes } from '@auth-account/contracts';
import type { Handlers } from './mount-routes.ts';
import { sendJson } from './send-json.ts';

/** The handler of `/.well-known/jwks.json`: the same public keys for as long as the process runs. */
export function keyHandlers(publicKeys: unknown): Pick<Handlers, 'jwks'> {
  const { status, cacheControl } = routes.jwks.success;
  return {
    jwks(_req, res) {
      res.setHeader('Cache-Control', cacheControl);
      sendJson(res, status, publicKeys);
    },
  };
}
