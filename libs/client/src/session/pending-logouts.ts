import * as operations from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import { createBackoff } from '../platform/backoff.ts';
import type { Platform } from '../platform/platform.ts';
import { endReasonOf } from './end-reason.ts';
import { exchangeTokens } from './exchange-tokens.ts';
import type { Exclusive } from './exclusive.ts';
import { type PendingLogout, type TokenPair, withLogout } from './session-record.ts';
import type { SessionStorage } from './session-storage.ts';

export interface PendingLogoutsDeps {
  readonly platform: Pick<Platform, 'timers' | 'random'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly sessionStorage: SessionStorage;
}

export interface PendingLogouts {
  /**
   * Sends the pending logouts now. A logout that fails is sent again later. With `access`, the logout of that session
   * needs no refresh.
   */
  flush(access?: { readonly session_id: string; readonly token: string }): Promise<void>;
  close(): void;
}

/**
 * Sends the logouts that the service does not know of yet. Each is sent until the service answers with 200 or 404, or
 * says that the session is over. Any genuine refresh token of a session can end it, even one that is no longer valid.
 */
export function createPendingLogouts({
  platform,
  exchange,
  exclusive,
  sessionStorage,
}: PendingLogoutsDeps): PendingLogouts {
  const again = createBackoff(platform, 300_000, () => flush());

  async function logOut({ refresh_token }: PendingLogout, accessToken: string): Promise<void> {
    try {
      await exchange(operations.logOut, { body: { refresh_token }, accessToken });
    } catch (error) {
      if (!(error instanceof AuthError && error.code === 'ERR-LOGOUT-TARGET-NOT-FOUND')) throw error;
    }
  }

  /** Returns false if the access token is refused. */
  async function logOutDirectly(logout: PendingLogout, accessToken: string): Promise<boolean> {
    try {
      await logOut(logout, accessToken);
      return true;
    } catch (error) {
      if (error instanceof AuthError && error.retry === 'after_refresh') return false;
      throw error;
    }
  }

  /** Returns undefined if the session is over. */
  async function renew({ refresh_token }: PendingLogout): Promise<TokenPair | undefined> {
    try {
      return await exchangeTokens(exchange, operations.refreshTokens, { body: { refresh_token } });
    } catch (error) {
      if (endReasonOf(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Settles when the session is over. */
  async function deliver(logout: PendingLogout, accessToken: string | undefined): Promise<void> {
    if (accessToken !== undefined && (await logOutDirectly(logout, accessToken))) return;
    const pair = await renew(logout);
    if (pair === undefined) return;
    // The new token is stored before it is used, like every new pair. If the storage refuses it, the previous token is
    // presented again.
    await sessionStorage.update((held) => ({
      next: { ...held, logouts: withLogout(held.logouts, pair) },
      unwritten: held,
    }));
    await logOut(pair, pair.access_token);
  }

  /** Sends every pending logout, even if one fails. */
  async function flushAll(access: Parameters<PendingLogouts['flush']>[0]): Promise<void> {
    const failures: unknown[] = [];
    for (const logout of (await sessionStorage.read()).logouts) {
      const { session_id } = logout;
      try {
        await deliver(logout, access?.session_id === session_id ? access.token : undefined);
        await sessionStorage.update((held) => ({
          next: { ...held, logouts: held.logouts.filter((other) => other.session_id !== session_id) },
        }));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async function flush(access?: Parameters<PendingLogouts['flush']>[0]): Promise<void> {
    again.cancel();
    try {
      const isWritten = await sessionStorage.rewrite();
      if ((await sessionStorage.read()).logouts.length > 0) await exclusive('logouts', () => flushAll(access));
      if (!isWritten) throw new AuthError('CLIENT_STATE_UNKNOWN');
      again.reset();
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      again.schedule(error.retryAfterMs);
    }
  }

  return { flush, close: again.close };
}
