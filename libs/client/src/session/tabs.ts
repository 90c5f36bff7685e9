import type { AuthEvent } from '../events.ts';
import { isRecord } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { Access } from './access.ts';

/** The other tabs of the page. Messages are hints: what they say is in the storage too. */
export interface Tabs {
  /** The record has changed. */
  tellChange(): void;
  /** They need not refresh. The time left is told, since each tab has a monotonic clock of its own. */
  tellAccess(access: Access): void;
  /** An event of the stream, which one tab holds for all. */
  tellEvent(event: AuthEvent): void;
  /** The stream must answer if it has been silent for so many milliseconds: the tab that holds it asks. */
  tellCheck(afterMs: number): void;
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
  return {
    tellChange: () => channel?.postMessage({ kind: 'change' }),
    tellAccess: (access) =>
      channel?.postMessage({ kind: 'access', access: { ...access, leftMs: access.expiresAt - monotonic() } }),
    tellEvent: (event) => channel?.postMessage({ kind: 'event', event }),
    tellCheck: (afterMs) => channel?.postMessage({ kind: 'check', afterMs }),
    close() {
      channel?.close();
      // A closed channel throws, in the middle of a change.
      channel = undefined;
    },
  };
}
