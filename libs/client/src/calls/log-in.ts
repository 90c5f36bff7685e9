import type { SessionInfo } from '../events.ts';
import { type Operation, takesDeviceId } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';
import { entryOf } from '../platform/safe-storage.ts';
import { exchangeTokens } from '../session/exchange-tokens.ts';
import type { Exclusive } from '../session/exclusive.ts';
import type { SessionManager } from '../session/session-manager.ts';
import type { TokenPair } from '../session/session-record.ts';
import type { SessionStorage } from '../session/session-storage.ts';
import type { DeviceId } from './device-id.ts';
import { createIntents } from './intents.ts';

/**
 * Opens a session with an operation that answers with a token pair. The device's id is added to its body if the
 * operation takes it. The intent is a text that identifies the request, such as an email address. Repeating the
 * operation with the same intent uses the same idempotency key, even after a restart. The intent is stored, so it must
 * not contain a secret. `onOpened` gets the answer of the session that is kept.
 */
export type LogInWith = (
  operation: Operation,
  body: object,
  intent: string,
  onOpened?: (answer: TokenPair) => Promise<void> | undefined,
) => Promise<SessionInfo>;

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface LogInDeps {
  readonly platform: Pick<Platform, 'monotonic' | 'storage' | 'randomUUID'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly sessionManager: SessionManager;
  readonly sessionStorage: Pick<SessionStorage, 'read'>;
  readonly deviceId: DeviceId;
  /** The device, as the list of sessions shows it to the user. */
  readonly about: { readonly name?: string; readonly platform?: string };
  readonly prefix: string;
  readonly log: Log;
}

/**
 * Logs in. Logins run one after the other, because on one device the service lets a later session replace the earlier
 * one, and concurrent requests may arrive in the wrong order. A request that the network repeats, and a login after a
 * lost answer, get the same session because of the idempotency key. Raises `CLIENT_SUPERSEDED` if the user has logged
 * out since.
 */
export function createLogIn(deps: LogInDeps): LogInWith {
  const { platform, exchange, exclusive, sessionManager, sessionStorage, deviceId, about, prefix, log } = deps;
  const intents = createIntents(platform, entryOf(prefix, 'login'), log);

  async function logInOnce(
    endings: number,
    ...[operation, body, intent, onOpened]: Parameters<LogInWith>
  ): Promise<SessionInfo> {
    await sessionManager.load();
    // Another tab may have logged in or out a moment ago.
    const { era } = await sessionStorage.read();
    const { name, platform: kind } = about;
    const own = { device_id: await deviceId(), ...(name && { device_name: name }), ...(kind && { platform: kind }) };
    // The era is part of the intent, because a key from before a logout could bring back the session that was logged
    // out.
    return intents.carryOut(JSON.stringify([operation[0], intent, own, era]), async (idempotencyKey) => {
      if (sessionManager.endings() !== endings) throw new AuthError('CLIENT_SUPERSEDED');
      const sentAt = platform.monotonic();
      const sent = operation[3] & takesDeviceId ? { ...body, ...own } : body;
      const pair = await exchangeTokens(exchange, operation, { body: sent, idempotencyKey });
      const held = await sessionManager.adoptLogin(pair, { endings, era }, sentAt);
      if (held) {
        await onOpened?.(pair);
        return held;
      }
      // The key is dropped, because no later login must get the session that is logged out here.
      await intents.drop();
      await sessionManager.orphan(pair);
      throw new AuthError('CLIENT_SUPERSEDED');
    });
  }

  return (...asked) => {
    const endings = sessionManager.endings();
    return exclusive('login', () => logInOnce(endings, ...asked));
  };
}
