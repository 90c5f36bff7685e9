import { refreshTokens } from '../generated/operations.ts';
import { AuthError, isLost } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { Access, AccessHolder } from './access.ts';
import { endReasonOf } from './end-reason.ts';
import { exchangeTokens } from './exchange-tokens.ts';
import type { Exclusive } from './exclusive.ts';
import { endedRecord, type SessionRecord, sessionOf, type TokenPair } from './session-record.ts';
import type { Vault } from './vault.ts';

export interface RenewDeps {
  readonly platform: Pick<Platform, 'monotonic' | 'randomUUID' | 'timers' | 'openChannel'>;
  readonly exchange: Exchange;
  readonly exclusive: Exclusive;
  readonly vault: Vault;
  readonly holder: AccessHolder;
}

/** What a caller knew when it asked. */
interface Before {
  /** The access token that was refused. */
  readonly refused: string | undefined;
  readonly refreshToken: string;
}

/** Renewal of the access token, one at a time. */
export interface Renewal {
  /** Returns another access token than `refused`. */
  renew(record: SessionRecord, refused?: string): Promise<Access>;
  /** Gives up the renewal in flight, whose session is over. */
  abort(): void;
}

/** Wait for the access token that another tab has got; its message may come after its lock is free. */
const neighbourMs = 250;

/** Pause before the second try of a refresh whose answer was lost. */
const secondTryMs = 1_000;

/** Time after which what was read of the storage may be old: a tab that was frozen meanwhile has not noticed. */
const staleMs = 5_000;
/** Reads of a storage that takes longer than that itself. */
const mostReads = 3;

/** Creates what becomes of an answer: a stored pair, or the end of the session. */
function createKeep({ platform: { randomUUID }, vault, holder }: RenewDeps) {
  return {
    /**
     * Stores the new pair, then hands out its access token. Returns undefined if another tab has renewed the session
     * meanwhile: its token must not be replaced by this one, which is void.
     */
    async keepPair(pair: TokenPair, presented: string, era: string, sentAt: number): Promise<Access | undefined> {
      let access: Access | undefined;
      let isOvertaken = false;
      await vault.update((newest) => {
        if (newest.era !== era || !newest.session) return;
        isOvertaken = ![presented, pair.refresh_token].includes(newest.session.refresh_token);
        if (isOvertaken) return;
        const session = { ...newest.session, ...sessionOf(pair) };
        // If the storage refuses the new token, the next refresh presents the one before it again: the service takes that
        // until the new one has been used. If the new one were used, and the app killed then, it would be taken for theft.
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
    /** Ends the session whose token was refused. False if that is not the newest any more: another tab has renewed it. */
    conclude: (refused: string, era: string, error: unknown): Promise<boolean> | true => {
      const reason = endReasonOf(error);
      if (reason === undefined) return true;
      return vault.update((newest) => {
        const isNewest = newest.era === era && newest.session?.refresh_token === refused;
        return isNewest ? { next: endedRecord(newest, randomUUID(), reason, false) } : undefined;
      });
    },
  };
}

export function createRenewal(deps: RenewDeps): Renewal {
  const { exchange, exclusive, vault, holder } = deps;
  const { timers, openChannel, monotonic } = deps.platform;
  const { keepPair, conclude } = createKeep(deps);
  let inFlight: { readonly era: string; readonly done: Promise<Access>; readonly abort: AbortController } | undefined;

  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));

  /**
   * Returns the token to present, or an access token that another tab has got. Another tab may have renewed the session,
   * or ended it, while this one waited or was frozen: an earlier token would be taken for theft.
   */
  async function look(era: string, before: Before, signal: AbortSignal, reads = 1): Promise<string | Access> {
    const begun = monotonic();
    const { session, era: presentEra } = await vault.read(openChannel);
    if (presentEra !== era || signal.aborted) throw new AuthError('CLIENT_SUPERSEDED');
    if (!session) throw new AuthError('CLIENT_SIGNED_OUT');
    const { refused } = before;
    if (session.refresh_token !== before.refreshToken && !holder.freshOf(era, refused)) {
      await Promise.race([holder.adopted(), pause(neighbourMs)]);
    }
    const fresh = holder.freshOf(era, refused);
    if (fresh) return fresh;
    const isStale = monotonic() - begun > staleMs && reads < mostReads;
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
        // The service hands out the same pair for the same token.
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
