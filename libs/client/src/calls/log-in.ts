import type { SessionInfo } from '../events.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import { exchangeTokens } from '../session/exchange-tokens.ts';
import type { Exclusive } from '../session/exclusive.ts';
import { infoOf, type Keeper } from '../session/keeper.ts';
import type { Device } from './device.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface LogInDeps {
  readonly platform: Pick<Platform, 'monotonic'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly keeper: Keeper;
  readonly device: Device;
  /** The device as the user sees it in the list of sessions. */
  readonly about: { readonly name?: string; readonly platform?: string };
}

/**
 * Creates the login. Logins go one after the other: on this device, the service lets the later session replace the
 * earlier one, whichever it meets first. Raises `CLIENT_SUPERSEDED` if the user has logged out meanwhile.
 */
export function createLogIn({ platform, exchange, exclusive, keeper, device, about }: LogInDeps) {
  async function logInOnce({ email, password }: Credentials, endings: number): Promise<SessionInfo> {
    const { era } = await keeper.load();
    const { name, platform: kind } = about;
    const own = { device_id: await device.id(), ...(name && { device_name: name }), ...(kind && { platform: kind }) };
    if (keeper.endings() !== endings) throw new AuthError('CLIENT_SUPERSEDED');
    const sentAt = platform.monotonic();
    const pair = await exchangeTokens(exchange, 'logIn', { body: { email, password, ...own } });
    if (await keeper.adoptLogin(pair, { endings, era }, sentAt)) return infoOf(pair);
    await keeper.orphan(pair);
    throw new AuthError('CLIENT_SUPERSEDED');
  }

  return (credentials: Credentials): Promise<SessionInfo> => {
    const endings = keeper.endings();
    return exclusive('login', () => logInOnce(credentials, endings));
  };
}
