import { AuthError, isCatalogueCode } from '../http/auth-error.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import type { Log, Platform } from '../platform/platform.ts';

interface Intent {
  readonly intent: string;
  readonly key: string;
}

/** Keeps the idempotency key of an intent until the outcome of its requests is known. */
export interface Intents {
  /**
   * Calls `send` with the key of the intent. `isRepeated` is true if an earlier request was sent and its outcome is
   * unknown. The key is stored before sending, and dropped after a success or a final refusal. Raises
   * `CLIENT_STATE_UNKNOWN` if the storage can't be read, because it may hold a key.
   */
  carryOut<T>(intent: string, send: (key: string, isRepeated: boolean) => Promise<T>): Promise<T>;
  drop(): Promise<void>;
}

/** Remembers one intent at a time. It survives a restart of the app. */
export function createIntents(
  { storage, randomUUID }: Pick<Platform, 'storage' | 'randomUUID'>,
  slot: string,
  log: Log,
): Intents {
  let held: Intent | undefined;
  const unstored = () => log({ event: 'storage_failed' });

  async function begin(intent: string): Promise<readonly [key: string, isRepeated: boolean]> {
    if (held?.intent === intent) return [held.key, true];
    const text = await storage.get(slot).catch(() => {
      throw new AuthError('CLIENT_STATE_UNKNOWN');
    });
    const stored = parseJson(text ?? '');
    const isRepeated = isRecord(stored) && stored.intent === intent && typeof stored.key === 'string';
    held = { intent, key: isRepeated ? (stored.key as string) : randomUUID() };
    if (!isRepeated) await storage.set(slot, JSON.stringify(held)).catch(unstored);
    return [held.key, isRepeated];
  }

  async function drop(): Promise<void> {
    held = undefined;
    await storage.remove(slot).catch(unstored);
  }

  return {
    async carryOut(intent, send) {
      try {
        const done = await send(...(await begin(intent)));
        await drop();
        return done;
      } catch (error) {
        if (isFinal(error)) await drop();
        throw error;
      }
    },
    drop,
  };
}

/** Returns true if the service has refused the intent, so that no outcome is left unknown. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof AuthError) || !isCatalogueCode(error.code)) return false;
  return error.retry === 'never' && error.status < 500 && error.code !== 'ERR-IDEMPOTENCY-KEY-REUSED';
}
