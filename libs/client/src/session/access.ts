import type { TokenPair } from './session-record.ts';

/** An access token and the time of its end. */
export interface Access {
  readonly token: string;
  readonly era: string;
  /** On the monotonic clock, counted from the sending of the request. A phone's wall clock may be a day wrong. */
  readonly expiresAt: number;
  /** Time between a token's renewal and its end, in milliseconds. */
  readonly marginMs: number;
}

/** Holds the access token. It is kept only in memory. */
export interface AccessHolder {
  /** Returns the token of this era, even if it has expired. */
  of(era: string | undefined): Access | undefined;
  /** Returns the token of this era if it still lasts a while and was not refused. */
  freshOf(era: string | undefined, refused?: string): Access | undefined;
  hold(pair: TokenPair, era: string, sentAt: number): Access;
  /** Adopts another tab's token if it lasts longer. */
  adopt(access: Access): void;
  /** Settles when another tab's token arrives. */
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
