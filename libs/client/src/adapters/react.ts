import type { AuthClient } from '../create-auth-client.ts';
import type { AuthEvent, AuthState } from '../events.ts';
import type { Federated, WaitingPerson } from '../groups/federated.ts';
import type { FactorRemoval, SecondFactor, WaitingLogin } from '../groups/second-factor.ts';

/** The hooks of React that these hooks use. `import * as React from 'react'` has them. */
export interface ReactHooks {
  useSyncExternalStore<T>(subscribe: (onChange: () => void) => () => void, read: () => T, readOnServer?: () => T): T;
  useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
}

export interface AuthGuardProps<C, O, U, F, P = F, R = U> {
  readonly children: C;
  readonly signedOut?: O;
  readonly unknown?: U;
  readonly unreadable?: R;
  readonly secondFactor?: F;
  readonly federated?: P;
}

export interface AuthHooks {
  /** Returns the present state. The component is rendered again after each change. */
  useAuth(): AuthState;
  /**
   * Renders `children` if a user is signed in, `signedOut` (a login screen, a redirect) if no user is signed in, and
   * `unknown` (a splash screen) until the storage was read, or `unreadable`, if it is there, while the storage can't be
   * read: a screen that offers `forget`. While nobody is signed in and a login waits for the second
   * factor, renders `secondFactor` if it is there; while a person whom a provider has named waits, `federated`.
   */
  AuthGuard<C, O = null, U = null, F = O, P = F, R = U>(
    props: AuthGuardProps<C, O, U, F, P, R>,
  ): C | O | U | F | P | R | null;
  /**
   * Returns the login that waits for the second factor. Needs the group `secondFactor`, whose `confirm` completes it and
   * whose `giveUp` ends it.
   */
  useSecondFactor(): WaitingLogin | undefined;
  /**
   * Returns the person whom a provider has named, and who waits. Needs the group `federated`, whose `register` or
   * `logInAndLink` logs them in, and whose `giveUp` ends it.
   */
  useFederated(): WaitingPerson | undefined;
  /**
   * Returns the ordered removal of the user's second factor. Needs the group `secondFactor`, whose `stopRemoval` stops
   * it.
   */
  useSecondFactorRemoval(): FactorRemoval | undefined;
  /**
   * Calls `handle` with each message of the topic. `*` stands for any topic, and `security.new_device` for the event
   * `new_device`. Pass a stable function, because each rendering with a new function subscribes again.
   */
  useStream(topic: string, handle: (payload: unknown, id: string) => void): void;
}

const unknown: AuthState = { status: 'unknown' };

/** Creates the hooks of a client. React itself is passed in, so that the app has only one copy of it. */
export function createAuthHooks(react: ReactHooks, client: AuthClient & Partial<Federated & SecondFactor>): AuthHooks {
  // The same object as long as the state is equal, as `useSyncExternalStore` demands.
  let last = client.state();
  const read = () => {
    const state = client.state();
    if (JSON.stringify(state) !== JSON.stringify(last)) last = state;
    return last;
  };
  const on = (wanted: AuthEvent['type']) => (onChange: () => void) =>
    client.subscribe(({ type }) => type === wanted && onChange());
  const [onState, onSecondFactor, onFederated] = [on('state'), on('second_factor'), on('federated')];
  const useAuth = () => react.useSyncExternalStore(onState, read, () => unknown);
  const useSecondFactor = () =>
    react.useSyncExternalStore(
      onSecondFactor,
      () => client.secondFactor?.waiting(),
      () => undefined,
    );
  const useFederated = () =>
    react.useSyncExternalStore(
      onFederated,
      () => client.federated?.waiting(),
      () => undefined,
    );
  return {
    useAuth,
    useSecondFactor,
    useFederated,
    useSecondFactorRemoval: () =>
      react.useSyncExternalStore(
        onSecondFactor,
        () => client.secondFactor?.removal(),
        () => undefined,
      ),
    AuthGuard({ children, signedOut = null, unknown: pending = null, unreadable, secondFactor, federated }) {
      const state = useAuth();
      const [login, person] = [useSecondFactor(), useFederated()];
      const named = person !== undefined && federated !== undefined ? federated : signedOut;
      const out = login !== undefined && secondFactor !== undefined ? secondFactor : named;
      if (state.status === 'unknown') return state.isUnreadable && unreadable !== undefined ? unreadable : pending;
      return state.status === 'signed_in' ? children : out;
    },
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
