import type { AuthClient } from '../create-auth-client.ts';
import type { AuthState } from '../events.ts';

/** The hooks of React that these need: `import * as React from 'react'` has them. */
export interface ReactHooks {
  useSyncExternalStore<T>(subscribe: (onChange: () => void) => () => void, read: () => T, readOnServer?: () => T): T;
  useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
}

export interface AuthHooks {
  /** The present state; the component is drawn again with each change. */
  useAuth(): AuthState;
  /** Calls `handle` with each message whose topic it is; `*` is any. Pass a stable function, or it subscribes anew. */
  useStream(topic: string, handle: (payload: unknown, id: string) => void): void;
}

const unknown: AuthState = { status: 'unknown' };

/** Creates the hooks of a client. React itself is passed, so that there is one of it in the app. */
export function createAuthHooks(react: ReactHooks, client: AuthClient): AuthHooks {
  // One object for one state, as `useSyncExternalStore` demands.
  let last = client.state();
  const read = () => {
    const state = client.state();
    if (JSON.stringify(state) !== JSON.stringify(last)) last = state;
    return last;
  };
  const onState = (onChange: () => void) => client.subscribe(({ type }) => type === 'state' && onChange());
  return {
    useAuth: () => react.useSyncExternalStore(onState, read, () => unknown),
    useStream: (topic, handle) =>
      react.useEffect(
        () =>
          client.subscribe((event) => {
            if (event.type === 'message' && (topic === '*' || event.topic === topic)) handle(event.payload, event.id);
          }),
        [topic, handle],
      ),
  };
}
