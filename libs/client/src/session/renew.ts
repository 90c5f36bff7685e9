import { refreshTokens } from '../generated/operations.ts';
import { AuthError, isLost } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { Access, AccessHolder } from './access.ts';
import { endReasonOf } from './end-reason.ts';
import { exchangeTokens } from './exchange-tokens.ts';
import type { Exclusive } from './exclusive.ts';
import { endedRecord, type SessionRecord, sessionOf, type TokenPair } from './session-record.ts';
import type { SessionStorage } from './session-storage.ts';

export interface RenewDeps {
  readonly platform: Pick<Platform, 'monotonic' | 'randomUUID' | 'timers' | 'openChannel'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly sessionStorage: SessionStorage;
  readonly holder: AccessHolder;
}

/** The tokens that a caller knew when it asked for a renewal. */
interface Before {
  /** The access token that was refused. */
  readonly refused: string | undefined;
  readonly refreshToken: string;
}

/** Renews the access token, one renewal at a time. */
export interface Renewal {
  /** Returns an access token other than `refused`. */
  renew(record: SessionRecord, refused?: string): Promise<Access>;
  /** Gives up the renewal in flight, because its session is over. */
  abort(): void;
}

/**
 * Limit for the wait for another tab's access token, in milliseconds. The message with the token may come after that tab
 * has freed the lock.
 */
const neighbourMs = 250;

/** Pause before the second try of a refresh whose answer was lost, in milliseconds. */
const secondTryMs = 1_000;

/**
 * If a read of the storage took longer than this, in milliseconds, its result may be old, because the tab may have been
 * frozen.
 */
const staleMs = 5_000;
/** Limit for the number of reads, because a slow storage may take longer than `staleMs` each time. */
const maxReads = 3;

/** Creates the functions that handle an answer: one stores the pair, the other ends the session. */
function createKeep({ platform: { randomUUID }, sessionStorage, holder }: RenewDeps) {
  return {
    /**
     * Stores the new pair, then returns its access token. Returns undefined if another tab has renewed the session
     * since. That tab's token must stay, because the new pair is revoked.
     */
    async keepPair(pair: TokenPair, presented: string, era: string, sentAt: number): Promise<Access | undefined> {
      let access: Access | undefined;
      let isOvertaken = false;
      await sessionStorage.update((newest) => {
        if (newest.era !== era || !newest.session) return;
        isOvertaken = ![presented, pair.refresh_token].includes(newest.session.refresh_token);
        if (isOvertaken) return;
        const session = { ...newest.session, ...sessionOf(pair) };
        // If the storage refuses the new token, the next refresh presents the previous one again. The service accepts
        // that until the new token has been used. If the app used the new token and were then killed, its next start
        // would present the previous token, which would be taken for theft.
        const { refresh_token } = newest.session;
        const unwritten = { ...newest, session: { ...session, refresh_token } };
        return {
          next: { ...newest, session },
          unwritten,
          onKept: () => {
            access = holder.hold(pair, era, sentAt);
          },
        };
      });
      if (!access && !isOvertaken) throw new AuthError('CLIENT_SUPERSEDED');
      return access;
    },
    /**
     * Ends the session whose token was refused. Returns false if the token is no longer the newest, because another tab
     * has renewed it.
     */
    conclude: (refused: string, era: string, error: unknown): Promise<boolean> | true => {
      const reason = endReasonOf(error);
      if (reason === undefined) return true;
      return sessionStorage.update((newest) => {
        const isNewest = newest.era === era && newest.session?.refresh_token === refused;
        return isNewest ? { next: endedRecord(newest, randomUUID(), reason, false) } : undefined;
      });
    },
  };
}

export function createRenewal(deps: RenewDeps): Renewal {
  const { exchange, exclusive, sessionStorage, holder } = deps;
  const { timers, openChannel, monotonic } = deps.platform;
  const { keepPair, conclude } = createKeep(deps);
  let inFlight: { readonly era: string; readonly done: Promise<Access>; readonly abort: AbortController } | undefined;

  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));

  /**
   * Returns the refresh token to present, or an access token that another tab has got. Another tab may have renewed or
   * ended the session while this one waited or was frozen. The old refresh token would then be taken for theft.
   */
  async function look(era: string, before: Before, signal: AbortSignal, reads = 1): Promise<string | Access> {
    const begun = monotonic();
    const { session, era: presentEra } = await sessionStorage.read(openChannel);
    if (presentEra !== era || signal.aborted) throw new AuthError('CLIENT_SUPERSEDED');
    if (!session) throw new AuthError('CLIENT_SIGNED_OUT');
    const { refused } = before;
    if (session.refresh_token !== before.refreshToken && !holder.freshOf(era, refused)) {
      await Promise.race([holder.adopted(), pause(neighbourMs)]);
    }
    const fresh = holder.freshOf(era, refused);
    if (fresh) return fresh;
    const isStale = monotonic() - begun > staleMs && reads < maxReads;
    return isStale ? look(era, before, signal, reads + 1) : session.refresh_token;
  }

  async function ask(refresh_token: string, era: string, signal: AbortSignal): Promise<Access | undefined> {
    const sentAt = monotonic();
    const pair = await exchangeTokens(exchange, refreshTokens, { body: { refresh_token }, signal });
    return keepPair(pair, refresh_token, era, sentAt);
  }

  async function renewOnce(era: string, before: Before, signal: AbortSignal, isSecond = false): Promise<Access> {
    const token = await look(era, before, signal);
    if (typeof token !== 'string') return token;
    try {
      const access = await ask(token, era, signal);
      if (access) return access;
    } catch (error) {
      if (isLost(error) && !isSecond) {
        // The service returns the same pair for the same token.
        await pause(secondTryMs);
        return renewOnce(era, before, signal, true);
      }
      if (await conclude(token, era, error)) throw error;
    }
    return renewOnce(era, before, signal, isSecond);
  }

  return {
    async renew({ era, session }, refused) {
      if (!session) throw new AuthError('CLIENT_SIGNED_OUT');
      const fresh = holder.freshOf(era, refused);
      if (fresh) return fresh;
      if (inFlight?.era === era) return inFlight.done;
      inFlight?.abort.abort();
      const abort = new AbortController();
      const before = { refused, refreshToken: session.refresh_token };
      const own = { era, abort, done: exclusive('refresh', () => renewOnce(era, before, abort.signal)) };
      inFlight = own;
      try {
        return await own.done;
      } finally {
        if (inFlight === own) inFlight = undefined;
      }
    },
    abort: () => inFlight?.abort.abort(),
  };
}
