import type { Platform } from '../platform/platform.ts';

/** Whether the other side still hears: a path that is cut in silence shows itself by nothing but a missing answer. */
export interface Liveness {
  /** Sends a frame that the gateway answers. Without a frame within 10 s, the connection is given up. */
  ask(frame: object): void;
  /** Asks by a `ping`, unless an answer is awaited already. With `afterMs`, only after a silence of so long. */
  check(afterMs?: number): void;
  /** A frame has come. */
  onHeard(): void;
  stop(): void;
}

/** Time for an answer, in milliseconds. */
const answerMs = 10_000;

/** Asks when a wake, a new token or `quietMs` without a frame call for it. */
export function createLiveness(
  { timers, monotonic, quietMs }: Pick<Platform, 'timers' | 'monotonic' | 'quietMs'>,
  send: (data: string) => void,
  giveUp: () => void,
): Liveness {
  let heardAt = monotonic();
  let stopQuiet: (() => void) | undefined;
  let stopAnswer: (() => void) | undefined;

  function stop(): void {
    stopQuiet?.();
    stopAnswer?.();
    stopAnswer = undefined;
  }

  function ask(frame: object): void {
    send(JSON.stringify(frame));
    stopAnswer ??= timers.after(answerMs, giveUp);
  }

  function check(afterMs = 0): void {
    if (stopAnswer === undefined && monotonic() - heardAt >= afterMs) ask({ type: 'ping' });
  }

  return {
    ask,
    check,
    stop,
    onHeard() {
      heardAt = monotonic();
      stop();
      stopQuiet = timers.after(quietMs, check);
    },
  };
}
