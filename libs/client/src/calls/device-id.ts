import { AuthError } from '../http/auth-error.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { Exclusive } from '../session/exclusive.ts';

/**
 * Returns the id that all logins of this installation of the app share. It is made at the first login. It is not secret
 * and survives a logout, so that the account recognises the device. Raises `CLIENT_STATE_UNKNOWN` if the storage can't
 * be read.
 */
export type DeviceId = () => Promise<string>;

export function createDeviceId(
  { storage, randomUUID }: Pick<Platform, 'storage' | 'randomUUID'>,
  exclusive: Exclusive,
  prefix: string,
  log: Log,
): DeviceId {
  const slot = `${prefix}.device`;
  let id: string | undefined;

  async function find(): Promise<string> {
    try {
      const stored = await storage.get(slot);
      if (stored) return stored;
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
