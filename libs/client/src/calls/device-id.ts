import { takesDeviceSecret } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { Exclusive } from '../session/exclusive.ts';

/**
 * Returns a value that all logins of this installation of the app share. It is made at the first use, and survives a
 * logout, so that the account recognises the device. Raises `CLIENT_STATE_UNKNOWN` if the storage can't be read.
 */
export type DeviceId = () => Promise<string>;

/** Creates the device's id, which is not secret, or the secret that it holds (`X-Device-Secret`). */
export function createDeviceId(
  { storage, randomUUID }: Pick<Platform, 'storage' | 'randomUUID'>,
  exclusive: Exclusive,
  slot: string,
  log: Log,
): DeviceId {
  let id: string | undefined;

  async function find(): Promise<string> {
    try {
      const stored = await storage.get(slot);
      // A value that was cut short would make the service refuse each login. Every UUID has 36 characters.
      if (stored?.length === 36) return stored;
    } catch {
      throw new AuthError('CLIENT_STATE_UNKNOWN');
    }
    const made = randomUUID();
    await storage.set(slot, made).catch(() => log({ event: 'storage_failed' }));
    return made;
  }

  return async () => {
    // One call at a time, because otherwise two calls or two tabs would each make an id.
    id ??= await exclusive('device', find);
    return id;
  };
}

/**
 * Adds the device's secret to requests that take it. Without the secret, such as while the storage is locked, the
 * account does not recognise the device, and nothing else changes.
 */
export function withDeviceSecret(exchange: Exchange, secret: DeviceId): Exchange {
  return async (operation, outgoing) => {
    if (!(operation[3] & takesDeviceSecret)) return exchange(operation, outgoing);
    return exchange(operation, { ...outgoing, deviceSecret: await secret().catch(() => undefined) });
  };
}
