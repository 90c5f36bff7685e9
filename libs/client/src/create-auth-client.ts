import { createCall } from './calls/call.ts';
import type { ClientGroup, ClientGroupDeps } from './calls/client-group.ts';
import { createDeviceId, withDeviceSecret } from './calls/device-id.ts';
import { type Credentials, createLogIn, type LogInWith } from './calls/log-in.ts';
import { createRegister, type Register } from './calls/register.ts';
import { createServiceFetch, type ServiceFetch } from './calls/service-fetch.ts';
import { type AuthListener, type AuthState, createEvents, type SessionInfo } from './events.ts';
import * as operations from './generated/operations.ts';
import { speak } from './http/error-texts.ts';
import { emailKey } from './http/typed-input.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { completePlatform } from './platform/default-platform.ts';
import type { AuthStorage, Log, Platform } from './platform/platform.ts';
import { createSafeStorage, emptyEntry, entryNames, entryOf } from './platform/safe-storage.ts';
import { createChanges } from './session/changes.ts';
import { openSession } from './session/open-session.ts';
import type { SessionRecord } from './session/session-record.ts';
import { openTabs } from './session/tabs.ts';
import { createLeadership } from './stream/leadership.ts';
import { createStream, type Stream } from './stream/stream.ts';

/** Facts about the app and its platform. Everything except `baseUrl` and `storage` has a default. */
export interface AuthClientOptions extends Partial<Omit<Platform, 'storage'>> {
  /** URL of the api, such as `https://auth.example.com`. */
  readonly baseUrl: string;
  readonly storage: AuthStorage;
  /** Origins of the other services that may get the access token, such as `https://inventory.example.com`. */
  readonly services?: readonly string[];
  /** Language of messages, sent as `Accept-Language`, such as `ru`. The default is the platform's. */
  readonly language?: () => string;
  /** Limit for the wait for an answer, in milliseconds. The default is 15,000, and the maximum 20,000. */
  readonly timeoutMs?: number;
  /** The device, as the list of sessions shows it to the user. */
  readonly device?: { readonly name?: string; readonly platform?: 'ios' | 'android' | 'web' | 'other' };
  /** False if the app wants no push stream. */
  readonly stream?: boolean;
  /** Prefix of the names in the storage. The default is `auth-account`. */
  readonly prefix?: string;
}

/** The operations of the groups with which the client is created: `account`, `household`, `sessions`. */
export type Added<G extends readonly ClientGroup<object>[]> = (
  G[number] extends infer One
    ? One extends ClientGroup<infer T>
      ? (added: T) => void
      : never
    : never
) extends (added: infer All) => void
  ? All
  : unknown;

/** The client of the authentication and account service. An app has one client, and a page has one in each tab. */
export interface AuthClient {
  /** The present state, without waiting: `unknown` until the storage was read. */
  state(): AuthState;
  /** Reads the storage if necessary. Raises `CLIENT_STATE_UNKNOWN` if that fails; the client then keeps trying. */
  ready(): Promise<AuthState>;
  /** Reports every event from now on. Returns the function that ends the reports. */
  subscribe(listener: AuthListener): () => void;
  /** Registers an account, without logging in. A retry is safe, even after the app was killed. */
  readonly register: Register;
  /** Opens a session. Raises the codes of the operation, and `CLIENT_SUPERSEDED` if the user has logged out since. */
  logIn(credentials: Credentials): Promise<SessionInfo>;
  /**
   * Ends the session. On this device it ends at once, even offline. The service learns of the logout as soon as there
   * is a network.
   */
  logOut(): Promise<void>;
  /**
   * Lets the user begin anew although the storage can't be read: forgets what it holds, without reading it. The service
   * is not notified, and the session lasts there until its end. If the storage can be read, the user is logged out.
   */
  forget(): Promise<void>;
  /** `fetch` for the services of the family: with the access token, a request id and one transparent refresh. */
  readonly fetch: ServiceFetch;
  /**
   * Returns an access token that lasts a while, for requests that `fetch` can't send. After a 401, pass the refused
   * token to get another.
   */
  accessToken(refused?: string): Promise<string>;
  readonly stream: { isOpen(): boolean };
  /** Stops the timers, the stream and the channel to other tabs. The state does not change. */
  close(): void;
}

/** Creates the client with these groups of operations. The client begins at once to read the storage. */
export function createAuthClient<const G extends readonly ClientGroup<object>[] = []>(
  options: AuthClientOptions & { readonly groups?: G },
): AuthClient & Added<G> {
  const { groups = [] } = options;
  const parts = assemble(options);
  const { sessionManager, logouts, stream, tabs, lifecycle, events, changes, platform, prefix, log } = parts;
  const send = createLogIn({ ...parts, about: options.device ?? {} });
  let signInMethod: LogInWith = async (...asked) => {
    stream.pause();
    try {
      return await send(...asked);
    } finally {
      stream.resume();
      void logouts.flush();
    }
  };
  const logInWith: LogInWith = (...asked) => signInMethod(...asked);
  const logIn = ({ email, password }: Credentials) => logInWith(operations.logIn, { email, password }, emailKey(email));
  lifecycle.wake().catch(() => undefined);

  async function leave(end: () => Promise<void>): Promise<void> {
    const held = sessionManager.heldAccess();
    stream.pause();
    try {
      const ended = end();
      // If the storage can't be read, no record changes and `onChange` is not called, so the logout is reported here.
      changes.follow();
      await ended;
      void logouts.flush(held);
    } finally {
      stream.resume();
    }
  }

  async function forgetUnreadable(key: string): Promise<void> {
    try {
      await platform.storage.get(key);
    } catch {
      platform.storage.forget(key);
      await emptyEntry(platform.storage, key, log);
    }
  }

  const client: AuthClient = {
    state: sessionManager.state,
    ready: lifecycle.wake,
    subscribe: events.subscribe,
    register: createRegister({ ...parts, logIn }),
    logIn,
    logOut: () => leave(() => sessionManager.end('logged_out', true)),
    async forget() {
      await leave(sessionManager.forget);
      await Promise.all(entryNames.map((name) => forgetUnreadable(entryOf(prefix, name))));
    },
    fetch: createServiceFetch(platform, sessionManager, parts.baseUrl, options.services ?? []),
    accessToken: async (refused) => (await (refused ? sessionManager.renew(refused) : sessionManager.access())).token,
    stream: { isOpen: stream.isOpen },
    close() {
      lifecycle.close();
      stream.pause();
      logouts.close();
      tabs.close();
    },
  };
  const wrapLogIn: ClientGroupDeps['wrapLogIn'] = (wrap) => {
    signInMethod = wrap(signInMethod);
  };
  return Object.assign(client, ...groups.map((create) => create({ ...parts, logInWith, wrapLogIn })));
}

function assemble(options: AuthClientOptions) {
  const { language, timeoutMs, prefix = 'auth-account' } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const given = completePlatform(options);
  speak(
    language ?? (() => (globalThis as { readonly navigator?: { readonly language?: string } }).navigator?.language),
  );
  const log: Log = (entry) => {
    try {
      given.log({ at: given.now(), ...entry });
    } catch {
      // An error in the app's log must not break anything.
    }
  };
  const platform = { ...given, storage: createSafeStorage(given, log) };
  const onChange = (before?: SessionRecord, after?: SessionRecord) => {
    changes.follow(before, after);
    if (before?.era === after?.era) return;
    // A session's stream ends with the session, whatever ended it.
    stream.pause();
    stream.resume();
  };
  const parts = openSession(
    platform,
    { baseUrl, language, timeoutMs, prefix },
    {
      onChange,
      onWritten: () => tabs.notifyChange(),
      onUse: () => stream.check(),
      onAccess(access) {
        tabs.notifyAccess(access);
        stream.extend(access);
      },
    },
    log,
  );
  const { sessionManager, sessionStorage, holder } = parts;
  const events = createEvents(log);
  const changes = createChanges(() => sessionManager, events.notify);
  const tabs = openTabs(platform, prefix, {
    onChange: () => void sessionStorage.read().catch(() => undefined),
    onAccess: holder.adopt,
    onEvent: events.notify,
    onCheck: (afterMs) => stream.checkOwn(afterMs),
  });
  const ofDevice = (name: 'device' | 'device-secret') =>
    createDeviceId(platform, parts.exclusive, entryOf(prefix, name), log);
  const deviceId = ofDevice('device');
  const exchange = withDeviceSecret(parts.exchange, ofDevice('device-secret'));
  const call = createCall({ platform, exchange, sessionManager, deviceId });
  const lifecycle: Lifecycle = createLifecycle(platform, parts, () => stream);
  const isOff = options.stream === false;
  if (!isOff && !platform.WebSocket) log({ event: 'stream_unavailable' });
  const stream: Stream = createStream({
    ...parts,
    platform: isOff ? { ...platform, WebSocket: undefined } : platform,
    call,
    leadership: createLeadership(platform, prefix),
    isAwake: lifecycle.isAwake,
    notify(event) {
      events.notify(event);
      tabs.notifyEvent(event);
    },
    checkElsewhere: tabs.notifyCheck,
  });
  return { ...parts, exchange, platform, baseUrl, prefix, events, changes, tabs, call, lifecycle, stream, deviceId };
}
