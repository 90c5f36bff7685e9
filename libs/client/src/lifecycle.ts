import type { AuthState } from './events.ts';
import { AuthError } from './http/auth-error.ts';
import { createBackoff } from './platform/backoff.ts';
import type { Platform } from './platform/platform.ts';
import type { SessionParts } from './session/open-session.ts';
import type { Stream } from './stream/stream.ts';

/** Resumes work that waited for the network, the storage or the app's return to the foreground. */
export interface Lifecycle {
  /**
   * Reads the session and resumes the work. If the storage can't be read, it raises `CLIENT_STATE_UNKNOWN` and tries
   * again later.
   */
  wake(): Promise<AuthState>;
  /** Returns true if, as far as is known, there is a network and the app is in the foreground. */
  isAwake(): boolean;
  close(): void;
}

export function createLifecycle(
  platform: Platform,
  { sessionManager, logouts }: SessionParts,
  stream: () => Stream,
): Lifecycle {
  const signals = { isOnline: true, isActive: true, isClosed: false };
  const again = createBackoff(platform, 30_000, () => wake().catch(() => undefined));

  async function wake(): Promise<AuthState> {
    if (signals.isClosed) throw new AuthError('CLIENT_CLOSED');
    try {
      await sessionManager.load();
    } catch (error) {
      again.schedule();
      throw error;
    }
    again.reset();
    stream().wake();
    if (signals.isOnline) void logouts.flush();
    return sessionManager.state();
  }

  const follow = (name: 'isOnline' | 'isActive') => (value: boolean) => {
    const isBetter = value && !signals[name];
    signals[name] = value;
    if (isBetter) wake().catch(() => undefined);
  };
  const ends = [platform.connectivity?.subscribe(follow('isOnline')), platform.appState?.subscribe(follow('isActive'))];

  return {
    wake,
    isAwake: () => signals.isOnline && signals.isActive && !signals.isClosed,
    close() {
      signals.isClosed = true;
      again.close();
      for (const end of ends) end?.();
    },
  };
}
