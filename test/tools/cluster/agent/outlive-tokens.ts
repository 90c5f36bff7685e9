import type { CloseReport, Target } from './protocol.ts';
import { logIn, openStream, register, type StreamCredentials } from './sessions.ts';

/**
 * Opens a stream with each part of the handshake that may carry the token, never renews the token, and reports how the
 * streams end. The reported times begin at the login.
 */
export function outliveTokens({ api, push }: Target): Promise<CloseReport[]> {
  async function end(by: StreamCredentials): Promise<CloseReport> {
    const { email } = await register(api);
    const start = performance.now();
    const { closed } = await openStream(push, await logIn(api, email), by);
    const { code, reason, at } = await closed;
    return { signInMethod: `token by ${by}`, end: `${code} ${reason}`, ms: at - start };
  }
  return Promise.all([end('header'), end('subprotocol')]);
}
