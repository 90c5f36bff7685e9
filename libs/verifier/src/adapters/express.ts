import { isAppError, negotiateLocale, toHttp } from '@auth-account/errors';
import type { Verifier } from '../create-verifier.ts';
import { checkedRequirements, type Requirements } from '../requirements.ts';
import { rememberCaller } from './caller-of.ts';

export { callerOf } from './caller-of.ts';

/** The part of a request that is read. Node's own requests have it. */
interface IncomingRequest {
  readonly headers: { readonly authorization?: string | undefined; readonly 'accept-language'?: string | undefined };
}

/** The part of a response that is used. Node's own responses have it. */
interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/**
 * Creates a middleware for Express, or for any framework that calls `(req, res, next)`. It lets a request with a valid
 * access token pass, and `callerOf(req)` returns its claims. Other requests are answered with an error of the
 * catalogue. A route that needs more than a valid token names its requirements.
 *
 * @example
 * app.use('/api', requireAccessToken(verifier));
 * app.delete('/api/pantry', requireAccessToken(verifier, { maxAge: 300, acr: '2' }), clear);
 */
export function requireAccessToken({ authenticate }: Pick<Verifier, 'authenticate'>, requirements?: Requirements) {
  const checked = checkedRequirements(requirements);
  return async (req: IncomingRequest, res: OutgoingResponse, next: (error?: unknown) => void): Promise<void> => {
    try {
      rememberCaller(req, await authenticate(req.headers.authorization, checked));
    } catch (error) {
      if (!isAppError(error)) return next(error);
      const answer = toHttp(error, { locale: negotiateLocale(req.headers['accept-language']) });
      res.statusCode = answer.status;
      for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value);
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify(answer.body));
      return;
    }
    next();
  };
}
