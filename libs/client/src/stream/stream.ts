import type { Call } from '../calls/call.ts';
import type { AuthEvent, NewDevice } from '../events.ts';
import type { CloseReactions } from '../generated/close-reactions.ts';
import { AuthError } from '../http/auth-error.ts';
import { createBackoff } from '../platform/backoff.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { Access } from '../session/access.ts';
import type { SessionManager } from '../session/session-manager.ts';
import type { SessionStorage } from '../session/session-storage.ts';
import { type Connection, type ConnectionEnd, type ConnectionListener, connect } from './connection.ts';
import { createInquiry } from './inquiry.ts';
import type { Leadership } from './leadership.ts';

export interface StreamDeps {
  readonly platform: Pick<Platform, 'WebSocket' | 'fetch' | 'timers' | 'random' | 'monotonic' | 'quietMs'>;
  readonly sessionManager: SessionManager;
  readonly sessionStorage: SessionStorage;
  readonly call: Call;
  readonly leadership: Leadership;
  /** False while there is no network or the app is in the background. Nothing is opened then. */
  readonly isAwake: () => boolean;
  readonly notify: (event: AuthEvent) => void;
  /** Asks another tab to check the stream, if that tab holds it. */
  readonly checkElsewhere: (afterMs: number) => void;
  readonly log: Log;
}

/** The push stream of the session (docs/push.md). It opens and closes by itself. */
export interface Stream {
  /**
   * Opens the stream at once if there is a session and the rules allow a stream now. A stream that is already open, in
   * any tab, is checked.
   */
  wake(): void;
  /** Checks an open stream that has been silent for longer than `quietMs`, because the timers may have stood still. */
  check(): void;
  /** Checks the stream of this tab if it has been silent for `afterMs`. */
  checkOwn(afterMs: number): void;
  /**
   * Closes the stream before a login or logout begins. The stream stays closed until `resume` was called as often as
   * `pause`.
   */
  pause(): void;
  resume(): void;
  /** Extends the open stream with the new access token. */
  extend(access: Access): void;
  isOpen(): boolean;
}

/**
 * Time after which a stream counts as steady, in milliseconds. Streams that keep ending earlier must not come back
 * without a pause.
 */
const steadyMs = 10_000;

/** Opens the stream. It makes one attempt at a time until there is a connection or none is wanted. */
function createOpening(deps: StreamDeps, canOpen: () => boolean, listener: ConnectionListener) {
  const { platform, leadership, sessionManager, sessionStorage } = deps;
  const again = createBackoff(platform, 30_000, () => open());
  const inquiry = createInquiry(deps);
  const state: { connection?: Connection | undefined } = {};
  let isOpening = false;
  let isAskedAgain = false;

  /**
   * Runs a step towards an open stream. If the step fails, the next attempt follows after a pause, as long as a stream
   * is wanted.
   */
  async function attempt(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (canOpen()) again.schedule(error instanceof AuthError ? error.retryAfterMs : undefined);
    }
  }

  async function open(): Promise<void> {
    if (platform.WebSocket === undefined || state.connection !== undefined) return;
    // A tab that is hidden or signed out must not keep the other tabs from holding the stream.
    if (!canOpen()) return leadership.resign();
    if (isOpening) {
      isAskedAgain = true;
      return;
    }
    isOpening = true;
    isAskedAgain = false;
    await attempt(openOnce);
    isOpening = false;
    if (isAskedAgain || !canOpen()) await open();
  }

  async function openOnce(): Promise<void> {
    if (!(await leadership.lead())) return;
    const access = await sessionManager.access();
    const record = sessionStorage.current();
    // Much may have changed while the token was awaited.
    if (!platform.WebSocket || !record?.session || record.era !== access.era) return;
    if (!canOpen() || !leadership.leads()) return;
    const socket = new platform.WebSocket(record.session.push_stream_url, ['bearer', access.token]);
    state.connection = connect(socket, access, platform, {
      ...listener,
      onOpen() {
        inquiry.onOpen();
        listener.onOpen();
      },
    });
  }

  /** Asks why a handshake failed, and plans the next. */
  const inquire = (token?: string) => attempt(async () => again.schedule(await inquiry.ask(token)));

  return { state, again, attempt, inquiry, inquire, open };
}

/**
 * Renews a token that the gateway has refused. It renews once for each connection. Without a new token the connection
 * ends with 4002.
 */
function createRenewRefused({ sessionManager, log }: StreamDeps) {
  let renewedFor: Connection | undefined;
  return (connection: Connection | undefined, code: string): void => {
    log({ event: 'stream_auth_refused', code });
    if (connection === undefined || renewedFor === connection || !code.startsWith('IAD_JWT_ACCESS_')) return;
    renewedFor = connection;
    sessionManager.renew(connection.token()).catch(() => undefined);
  };
}

/** Decides whether the stream should be open now. */
function createWish({ sessionStorage, isAwake }: StreamDeps) {
  let pauses = 0;
  /**
   * Era whose stream another connection has taken over. If both connections kept opening the stream, they would take it
   * from each other for ever.
   */
  let takenOver: string | undefined;
  return {
    canOpen(): boolean {
      const record = sessionStorage.current();
      return record?.session !== undefined && record.era !== takenOver && pauses === 0 && isAwake();
    },
    pause: () => {
      pauses += 1;
    },
    resume: () => {
      pauses -= 1;
    },
    leaveTo(era: string | undefined): void {
      takenOver = era;
    },
  };
}

function createCheck({ checkElsewhere }: StreamDeps, connection: () => Connection | undefined) {
  const checkOwn = (afterMs: number) => connection()?.check(afterMs);
  return {
    checkOwn,
    /** Checks the stream in the tab that holds it. That tab may be hidden and may have slept longest. */
    check(afterMs: number): void {
      if (connection()) checkOwn(afterMs);
      else checkElsewhere(afterMs);
    },
  };
}

export function createStream(deps: StreamDeps): Stream {
  const { sessionManager, leadership, isAwake, notify, log } = deps;
  const renewRefused = createRenewRefused(deps);
  const wish = createWish(deps);
  let openedAt = 0;

  function onEnd({ code, wasOpen, pauseMs }: ConnectionEnd): void {
    const { connection } = state;
    state.connection = undefined;
    log({ event: 'stream_closed', status: code });
    if (wasOpen) notify({ type: 'stream', status: 'closed' });
    const hasLasted = wasOpen && deps.platform.monotonic() - openedAt > steadyMs;
    if (hasLasted) again.reset();
    const step = (steps as Readonly<Record<number, string>>)[code];
    if (step === 'stop') wish.leaveTo(connection?.era);
    // A refresh asks the service whether the session has ended, because a close code alone does not prove it.
    else if (step === 'renew')
      void attempt(() => sessionManager.renew(connection?.token()).then(() => (hasLasted ? open() : again.schedule())));
    else if (pauseMs !== undefined) again.scheduleAt(pauseMs);
    else if (wasOpen) again.schedule();
    else void inquire(connection?.token());
  }

  const { state, again, attempt, inquiry, inquire, open } = createOpening(deps, wish.canOpen, {
    onEnd,
    onOpen() {
      openedAt = deps.platform.monotonic();
      notify({ type: 'stream', status: 'open' });
    },
    onFrame(frame) {
      const event = eventOf(frame);
      if (event) notify(event);
      else if (frame.type === 'error') renewRefused(state.connection, String(frame.error_code));
    },
    // If no token comes, the stream ends with 4002, and the next stream asks again.
    onExpiring: () => void (isAwake() && sessionManager.access().then(extend, () => undefined)),
  });

  /** Extends the stream with the token, which another tab may have got. */
  function extend(access: Access): void {
    if (state.connection?.era === access.era) state.connection.extend(access);
  }

  const { check, checkOwn } = createCheck(deps, () => state.connection);
  return {
    wake() {
      check(0);
      if (state.connection !== undefined || !wish.canOpen()) return;
      inquiry.onWake();
      again.cancel();
      void open();
    },
    check: () => check(deps.platform.quietMs),
    checkOwn,
    pause() {
      wish.pause();
      again.cancel();
      const wasOpen = state.connection?.isOpen();
      state.connection?.close();
      state.connection = undefined;
      leadership.resign();
      if (wasOpen) notify({ type: 'stream', status: 'closed' });
    },
    resume() {
      wish.resume();
      void open();
    },
    extend,
    isOpen: () => state.connection?.isOpen() === true,
  };
}

/**
 * The client's step after a reaction. `renew` asks the service by a refresh whether the session has ended. `stop` opens
 * no stream, because a new stream would replace the stream of another connection. `reconnect` opens the stream again
 * after a pause. The gateway may set the length of the pause. A new reaction in the contract is not assignable to any
 * step.
 */
type StepAfter<R> = R extends 'log_in' | 'refresh_and_reconnect'
  ? 'renew'
  : R extends 'none' | 'stop'
    ? 'stop'
    : R extends 'reconnect' | 'reconnect_after_notice' | 'app_error'
      ? 'reconnect'
      : never;

/** Steps after the codes for which the client does not simply reconnect. The type makes the table exhaustive. */
const steps: {
  readonly [C in keyof CloseReactions as 'reconnect' extends StepAfter<CloseReactions[C]> ? never : C]: StepAfter<
    CloseReactions[C]
  >;
} = { 1000: 'renew', 4001: 'renew', 4002: 'renew', 4003: 'stop', 4004: 'renew', 4005: 'stop' };

/** Returns the event of a `message` frame, or undefined for a frame that this version does not know. */
function eventOf(frame: Readonly<Record<string, unknown>>): AuthEvent | undefined {
  const { type, id, topic, payload } = frame;
  if (type !== 'message' || typeof id !== 'string' || typeof topic !== 'string') return undefined;
  if (topic === 'security.new_device') return { type: 'new_device', id, device: payload as NewDevice };
  return { type: 'message', id, topic, payload };
}
