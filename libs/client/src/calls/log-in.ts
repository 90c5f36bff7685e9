import type { SessionInfo } from '../events.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';
import { exchangeTokens } from '../session/exchange-tokens.ts';
import type { Exclusive } from '../session/exclusive.ts';
import type { Keeper } from '../session/keeper.ts';
import type { Vault } from '../session/vault.ts';
import type { Device } from './device.ts';
import { createIntents } from './intents.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface LogInDeps {
  readonly platform: Pick<Platform, 'monotonic' | 'storage' | 'randomUUID'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly keeper: Keeper;
  readonly vault: Pick<Vault, 'read'>;
  readonly device: Device;
  /** The device as the user sees it in the list of sessions. */
  readonly about: { readonly name?: string; readonly platform?: string };
  readonly prefix: string;
  readonly log: Log;
}

/**
 * Creates the login. Logins go one after the other: on this device, the service lets the later session replace the
 * earlier one, whichever it meets first. A request that a network repeats, and a login after a lost answer, get the same
 * session, by the idempotency key. Raises `CLIENT_SUPERSEDED` if the user has logged out meanwhile.
 */
export function createLogIn(deps: LogInDeps) {
  const { platform, exchange, exclusive, keeper, vault, device, about, prefix, log } = deps;
  const intents = createIntents(platform, `${prefix}.login`, log);

  async function logInOnce({ email, password }: Credentials, endings: number): Promise<SessionInfo> {
    await keeper.load();
    // Another tab may have logged in or out a moment ago.
    const { era } = await vault.read();
    const { name, platform: kind } = about;
    const own = { device_id: await device.id(), ...(name && { device_name: name }), ...(kind && { platform: kind }) };
    // In its era only: a key of before a logout could bring back the session that was logged out.
    return intents.carryOut(JSON.stringify([email.toLowerCase(), own, era]), async (idempotencyKey) => {
      if (keeper.endings() !== endings) throw new AuthError('CLIENT_SUPERSEDED');
      const sentAt = platform.monotonic();
      const pair = await exchangeTokens(exchange, 'logIn', { body: { email, password, ...own }, idempotencyKey });
      const held = await keeper.adoptLogin(pair, { endings, era }, sentAt);
      if (held) return held;
      // No later login must get the session that is logged out here.
      await intents.drop();
      await keeper.orphan(pair);
      throw new AuthError('CLIENT_SUPERSEDED');
    });
  }

  return (credentials: Credentials): Promise<SessionInfo> => {
    const endings = keeper.endings();
    return exclusive('login', () => logInOnce(credentials, endings));
  };
}
