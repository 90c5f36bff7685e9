import type { Connection } from './connection.ts';

export interface PingWheelDeps {
  /** Seconds of silence after which a stream ends. */
  readonly idleTimeoutSeconds: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number;
}

export interface PingWheel {
  /** Pings the stream from now on, until it ends. */
  watch(connection: Connection): void;
  /** Sends the pings that are due. */
  turn(): void;
  start(): void;
  stop(): void;
}

const tickMs = 20;
/** Seconds that a client has for its answer, at most half of the time-out. */
const answerSeconds = 8;

/**
 * Pings streams (RFC 6455 section 5.5.2) at such intervals that each client has time for its answer before its stream
 * counts as idle. The library would ping all streams that are due within four seconds at once: with 200,000 streams,
 * commands to close would wait for 20,000 pings.
 *
 * A slot has the streams whose ping is due in a second, and they are pinged evenly over it. Then they go into the slot
 * of their next ping. Streams that have ended are left out when their turn comes.
 */
export function createPingWheel({ idleTimeoutSeconds, now = () => performance.now() }: PingWheelDeps): PingWheel {
  const intervalSeconds = Math.floor(Math.max(idleTimeoutSeconds / 2, idleTimeoutSeconds - answerSeconds));
  const slots: Connection[][] = Array.from({ length: intervalSeconds + 1 }, () => []);
  const begun = now();
  /** The second whose slot is in turn, and how many of its streams have had their turn. */
  let second = 0;
  let done = 0;
  let watched = 0;
  let timer: NodeJS.Timeout | undefined;

  const slotAt = (of: number): Connection[] => slots[of % slots.length] ?? [];

  function watch(connection: Connection): void {
    watched += 1;
    slotAt(second + intervalSeconds).push(connection);
  }

  /** Takes the next stream whose turn has come, if any. */
  function takeDue(at: number): Connection | undefined {
    while (done === slotAt(second).length) {
      if (second + 1 > at) return undefined;
      slotAt(second).length = done = 0;
      second += 1;
    }
    const slot = slotAt(second);
    if (second + done / slot.length > at) return undefined;
    done += 1;
    watched -= 1;
    return slot[done - 1];
  }

  function turn(): void {
    const at = (now() - begun) / 1_000;
    // After a stall of the process its late pings go out over some ticks, not all at once.
    const perSecond = Math.max(watched / intervalSeconds, slotAt(second).length);
    let left = Math.ceil((4 * perSecond * tickMs) / 1_000) + 1;
    while (left > 0) {
      const connection = takeDue(at);
      if (connection === undefined) return;
      if (connection.socket === undefined) continue;
      connection.socket.ping();
      watch(connection);
      left -= 1;
    }
  }

  return {
    watch,
    turn,
    start() {
      timer ??= setInterval(turn, tickMs);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
