import type { Call } from '../calls/call.ts';
import type { AuthEvent } from '../events.ts';
import { findAccount } from '../generated/operations.ts';
import type { Log, Platform } from '../platform/platform.ts';
import { within } from '../platform/safe-storage.ts';
import type { SessionStorage } from '../session/session-storage.ts';

export interface InquiryDeps {
  readonly platform: Pick<Platform, 'fetch' | 'timers' | 'random' | 'monotonic'>;
  readonly sessionStorage: SessionStorage;
  readonly call: Call;
  readonly notify: (event: AuthEvent) => void;
  readonly log: Log;
}

/** Shortest pause after a handshake that was refused for its headers, in milliseconds. */
const refusedMs = 270_000;

/** Failed handshakes in a row that are asked about at once, if there was no stream before. */
const asksAtOnce = 3;

/**
 * Asks why a handshake failed, which a WebSocket does not show. It goes to the api, over HTTP. If the api accepts the
 * token, it goes to the gateway too, by a request with the cookies of a handshake; but seldom, because the gateway may
 * be overloaded.
 *
 * A gateway that restarts loses the streams of all its apps at once, and refuses their handshakes. The api must not be
 * overwhelmed by questions that it cannot answer. Therefore an app that has lost its stream asks 30 to 90 s later, and
 * then every 5 minutes or so, unless somebody opens the app.
 */
export function createInquiry({ platform, sessionStorage, call, notify, log }: InquiryDeps) {
  let failures = 0;
  let isRefused = false;
  let left = asksAtOnce;
  /** Time of `platform.monotonic` from which the next question may come when none is left. */
  let nextAt: number | undefined;

  const within60s = (least: number) => platform.monotonic() + least + platform.random() * 60_000;

  function mayAsk(): boolean {
    if (left === 0 && !isRefused) {
      nextAt ??= within60s(30_000);
      if (platform.monotonic() < nextAt) return false;
    }
    left = Math.max(left - 1, 0);
    nextAt = within60s(270_000);
    return true;
  }

  return {
    onOpen(): void {
      failures = left = 0;
      isRefused = false;
      nextAt = undefined;
    },
    /** Somebody opens the app. */
    onWake(): void {
      left = Math.max(left, 1);
    },
    /** Asks, if it may. Returns the shortest pause before the next handshake, in milliseconds. */
    async ask(token = ''): Promise<number> {
      if (!mayAsk()) return 0;
      await call(findAccount);
      failures += 1;
      const { push_stream_url: url } = sessionStorage.current()?.session ?? {};
      if (!url || !(isRefused || failures % 3 === 0)) return 0;
      const init = { headers: { Authorization: `Bearer ${token}` }, credentials: 'include' } as const;
      const { status } = await within(platform.timers, 15_000, () => platform.fetch(url.replace('ws', 'http'), init));
      if (status !== 431) return 0;
      log({ event: 'stream_refused', status });
      if (!isRefused) notify({ type: 'stream_refused', reason: 'headers_too_large' });
      isRefused = true;
      return refusedMs;
    },
  };
}
