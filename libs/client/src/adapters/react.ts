import type { AuthClient } from '../create-auth-client.ts';
import type { AuthEvent, AuthState } from '../events.ts';

/** The hooks of React that these hooks use. `import * as React from 'react'` has them. */
export interface ReactHooks {
  useSyncExternalStore<T>(subscribe: (onChange: () => void) => () => void, read: () => T, readOnServer?: () => T): T;
  useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
}

export interface AuthGuardProps<C, O, U> {
  readonly children: C;
  readonly signedOut?: O;
  readonly unknown?: U;
}

export interface AuthHooks {
  /** Returns the present state. The component is rendered again after each change. */
  useAuth(): AuthState;
  /**
   * Renders `children` if a user is signed in, `signedOut` (a login screen, a redirect) if no user is signed in, and
   * `unknown` (a splash screen) until the storage was read.
   */
  AuthGuard<C, O = null, U = null>(props: AuthGuardProps<C, O, U>): C | O | U | null;
  /**
   * Calls `handle` with each message of the topic. `*` stands for any topic, and `security.new_device` for the event
   * `new_device`. Pass a stable function, because each rendering with a new function subscribes again.
   */
  useStream(topic: string, handle: (payload: unknown, id: string) => void): void;
}

const unknown: AuthState = { status: 'unknown' };

/** Creates the hooks of a client. React itself is passed in, so that the app has only one copy of it. */
export function createAuthHooks(react: ReactHooks, client: AuthClient): AuthHooks {
  // The same object as long as the state is equal, as `useSyncExternalStore` demands.
  let last = client.state();
  const read = () => {
    const state = client.state();
    if (JSON.stringify(state) !== JSON.stringify(last)) last = state;
    return last;
  };
  const onState = (onChange: () => void) => client.subscribe(({ type }) => type === 'state' && onChange());
  const useAuth = () => react.useSyncExternalStore(onState, read, () => unknown);
  return {
    useAuth,
    AuthGuard: ({ children, signedOut = null, unknown: pending = null }) =>
      ({ signed_in: children, signed_out: signedOut, unknown: pending })[useAuth().status],
    useStream: (topic, handle) =>
      react.useEffect(
        () =>
          client.subscribe((event) => {
            const message = messageOf(event);
            if (message && (topic === '*' || message.topic === topic)) handle(message.payload, message.id);
          }),
        [topic, handle],
      ),
  };
}

/** Returns the message that the event reports. */
function messageOf(
  event: AuthEvent,
): { readonly topic: string; readonly payload: unknown; readonly id: string } | undefined {
  if (event.type === 'message') return event;
  if (event.type === 'new_device') return { topic: 'security.new_device', payload: event.device, id: event.id };
  return undefined;
}
