import { routes } from '@auth-account/contracts';
import type { Handlers } from './mount-routes.ts';
import { sendJson } from './send-json.ts';

/** The handler of `/.well-known/jwks.json`: the public keys as they now are. */
export function keyHandlers(publicKeys: unknown): Pick<Handlers, 'jwks'> {
  const { status, cacheControl } = routes.jwks.success;
  return {
    jwks(_req, res) {
      res.setHeader('Cache-Control', cacheControl);
      sendJson(res, status, publicKeys);
    },
  };
}
