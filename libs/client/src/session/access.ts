import type { TokenPair } from './session-record.ts';

/** An access token, and until when it lasts. */
export interface Access {
  readonly token: string;
  readonly era: string;
  /** On the monotonic clock, counted from when the request left: a phone's clock may be a day wrong. */
  readonly expiresAt: number;
  /** Time before its end from which on it is renewed, in milliseconds. */
  readonly marginMs: number;
}

/** Holds the access token in memory, and nowhere else. */
export interface AccessHolder {
  /** The token of this era, also one that has expired. */
  of(era: string | undefined): Access | undefined;
  /** The same if it lasts a while yet, and is not the one that was refused. */
  freshOf(era: string | undefined, refused?: string): Access | undefined;
  hold(pair: TokenPair, era: string, sentAt: number): Access;
  /** Takes the token of another tab if it lasts longer. */
  adopt(access: Access): void;
  /** Settles when another tab's token has come. */
  adopted(): Promise<void>;
}

export function createAccessHolder(monotonic: () => number, onAccess: (access: Access) => void): AccessHolder {
  let held: Access | undefined;
  let waiting: (() => void)[] = [];
  const of = (era: string | undefined) => (held?.era === era ? held : undefined);
  return {
    of,
    freshOf(era, refused) {
      const access = of(era);
      return access && access.token !== refused && access.expiresAt - monotonic() > access.marginMs
        ? access
        : undefined;
    },
    hold({ access_token: token, expires_in }, era, sentAt) {
      const lifetimeMs = expires_in * 1000;
      held = { token, era, expiresAt: sentAt + lifetimeMs, marginMs: Math.min(30_000, lifetimeMs / 10) };
      onAccess(held);
      return held;
    },
    adopt(access) {
      const own = of(access.era);
      if (own === undefined || own.expiresAt < access.expiresAt) held = access;
      for (const settle of waiting) settle();
      waiting = [];
    },
    adopted: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
