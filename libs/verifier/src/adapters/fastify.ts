import { isAppError, negotiateLocale, toHttp } from '@auth-account/errors';
import type { Verifier } from '../create-verifier.ts';
import { checkedRequirements, type Requirements } from '../requirements.ts';
import { rememberCaller } from './caller-of.ts';

export { callerOf } from './caller-of.ts';

interface FastifyRequest {
  readonly headers: { readonly authorization?: string | undefined; readonly 'accept-language'?: string | undefined };
}

interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: unknown): unknown;
}

/**
 * Creates a hook for Fastify. It lets a request with a valid access token pass, and `callerOf(request)` returns its
 * claims. Other requests are answered with an error of the catalogue. A route that needs more than a valid token names
 * its requirements.
 *
 * @example
 * app.addHook('onRequest', requireAccessToken(verifier));
 * app.delete('/pantry', { onRequest: requireAccessToken(verifier, { maxAge: 300, acr: '2' }) }, clear);
 */
export function requireAccessToken({ authenticate }: Pick<Verifier, 'authenticate'>, requirements?: Requirements) {
  const checked = checkedRequirements(requirements);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    try {
      rememberCaller(request, await authenticate(request.headers.authorization, checked));
      return undefined;
    } catch (error) {
      if (!isAppError(error)) throw error;
      const { status, headers, body } = toHttp(error, { locale: negotiateLocale(request.headers['accept-language']) });
      reply.code(status);
      reply.headers(headers);
      reply.send(body);
      return reply;
    }
  };
}
