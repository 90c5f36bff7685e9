import type { AuthEvent } from '../events.ts';
import { isRecord } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { Access } from './access.ts';

/**
 * Talks to the page's other tabs. Messages about the record are only hints, because the tabs read the record from the
 * storage.
 */
export interface Tabs {
  /** Says that the record has changed. */
  notifyChange(): void;
  /**
   * Shares an access token, so that the other tabs need not refresh. The message has the time left, because each tab
   * has its own monotonic clock.
   */
  notifyAccess(access: Access): void;
  /** Shares an event of the stream, which one tab holds for all. */
  notifyEvent(event: AuthEvent): void;
  /** Asks the tab that holds the stream to check it, if it has been silent for `afterMs` milliseconds. */
  notifyCheck(afterMs: number): void;
  close(): void;
}

export interface TabListener {
  onChange(): void;
  onAccess(access: Access): void;
  onEvent(event: AuthEvent): void;
  onCheck(afterMs: number): void;
}

export function openTabs(
  { openChannel, monotonic }: Pick<Platform, 'openChannel' | 'monotonic'>,
  prefix: string,
  listener: TabListener,
): Tabs {
  let channel = openChannel?.(prefix);
  if (channel) {
    channel.onmessage = ({ data }) => {
      if (!isRecord(data)) return;
      if (data.kind === 'event') return listener.onEvent(data.event as AuthEvent);
      if (data.kind === 'check') return listener.onCheck(Number(data.afterMs));
      if (data.kind === 'access') {
        const { leftMs, ...access } = data.access as Access & { readonly leftMs: number };
        listener.onAccess({ ...access, expiresAt: monotonic() + leftMs });
      }
      listener.onChange();
    };
  }
  function post(message: object): void {
    try {
      channel?.postMessage(message);
    } catch {
      // A channel that the platform has closed must not break a change under way.
    }
  }
  return {
    notifyChange: () => post({ kind: 'change' }),
    notifyAccess: (access) => post({ kind: 'access', access: { ...access, leftMs: access.expiresAt - monotonic() } }),
    notifyEvent: (event) => post({ kind: 'event', event }),
    notifyCheck: (afterMs) => post({ kind: 'check', afterMs }),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
