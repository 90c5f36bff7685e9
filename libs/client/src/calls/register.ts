import { AuthError, isCatalogueCode, isLost } from '../http/auth-error.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import type { LogEntry, Platform } from '../platform/platform.ts';
import type { Body, Call, Data } from './call.ts';
import type { Device } from './device.ts';

export type Registration = Omit<Body<'registerAccount'>, 'device_id'>;
export type Register = (input: Registration) => Promise<Data<'registerAccount'>>;

export interface RegisterDeps {
  readonly platform: Pick<Platform, 'storage' | 'randomUUID'>;
  readonly call: Call;
  readonly device: Device;
  readonly prefix: string;
  readonly log: (entry: Omit<LogEntry, 'at'>) => void;
}

/**
 * Registers an account. The idempotency key of the intent is stored before the request leaves and dropped when its
 * outcome is known: whoever registers again after a lost answer, or after the app was killed, gets the first answer and
 * not the news that their own address is taken.
 *
 * `ERR-IDEMPOTENCY-KEY-REUSED` says that the account exists, made from here with another password: the app offers to log
 * in.
 */
export function createRegister({ platform, call, device, prefix, log }: RegisterDeps): Register {
  const { storage, randomUUID } = platform;
  const slot = `${prefix}.registration`;
  let held: { readonly intent: string; readonly key: string } | undefined;

  async function keyOf(intent: string): Promise<string> {
    if (held?.intent === intent) return held.key;
    const stored = parseJson((await storage.get(slot).catch(() => undefined)) ?? '');
    const isSame = isRecord(stored) && stored.intent === intent && typeof stored.key === 'string';
    held = { intent, key: isSame ? (stored.key as string) : randomUUID() };
    if (!isSame) await storage.set(slot, JSON.stringify(held)).catch(() => log({ event: 'storage_failed' }));
    return held.key;
  }

  async function drop(): Promise<void> {
    held = undefined;
    await storage.remove(slot).catch(() => log({ event: 'storage_failed' }));
  }

  return async (input) => {
    const { email, space_creation_mode, invite_token = null } = input;
    const idempotencyKey = await keyOf(JSON.stringify([email.toLowerCase(), space_creation_mode, invite_token]));
    const body = { ...input, device_id: await device.id() };
    const send = () => call('registerAccount', { body, idempotencyKey });
    try {
      const data = await send().catch((error) => (isLost(error) ? send() : Promise.reject(error)));
      await drop();
      return data;
    } catch (error) {
      if (isFinal(error)) await drop();
      throw error;
    }
  };
}

/** Returns true if the service has refused the registration, so that there is no earlier outcome to ask for. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AuthError) || !isCatalogueCode(error.code)) return false;
  return error.retry === 'never' && error.status < 500 && error.code !== 'ERR-IDEMPOTENCY-KEY-REUSED';
}
