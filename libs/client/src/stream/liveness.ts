import type { Platform } from '../platform/platform.ts';

/**
 * Checks whether the other side still receives. If the network path is cut silently, only a missing answer shows this.
 */
export interface Liveness {
  /** Sends a frame that the gateway answers. If no frame comes within 10 s, the connection counts as lost. */
  ask(frame: object): void;
  /** Sends a `ping`, unless an answer is already awaited. With `afterMs`, it does so only after a silence that long. */
  check(afterMs?: number): void;
  /** Must be called for each frame that arrives. */
  onHeard(): void;
  stop(): void;
}

/** Time for an answer, in milliseconds. */
const answerMs = 10_000;

/** Checks that the stream lives. It also asks by itself after `quietMs` without a frame. */
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
