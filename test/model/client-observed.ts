import type { AuthEvent, AuthState } from '@auth-account/client';
import type { Answer } from '../support/http-client.ts';
import type { Device, Life } from './client-device.ts';
import { isLogin, type Observer, type Sent, serviceUrl } from './client-network.ts';
import { createTokens, type KnownTokens } from './client-tokens.ts';

/** Reasons that come from the client itself; all others come from the service. */
const ownReasons = ['no_session', 'logged_out', 'storage_lost'];

/** A logout that the user has requested. */
export interface RequestedLogout {
  /** Number of faults of the storage before the request. */
  readonly faults: number;
  /** Number of faults of the storage before the session was first seen. */
  readonly faultsBefore: number;
  /** Number of kills before the request. */
  readonly kills: number;
  /** Virtual time at which the client had completed the logout. */
  doneAt?: number;
}

/** Observations of a course, and the promises that were broken. */
export interface Observed {
  readonly violations: string[];
  /** Events so far, for a failure's message. */
  readonly story: readonly string[];
  note(what: string): void;
  /** Sessions whose end has a reason: a logout, a login that replaced them, or an end from another device. */
  readonly mayEnd: Set<string>;
  readonly asked: Map<string, RequestedLogout>;
  /** The session last seen in each tab, and the number of faults of the storage before that. */
  readonly held: Map<number, { readonly sessionId: string; readonly faults: number }>;
  /**
   * True if the storage has lost or refused the tab's session. The storage then can't return it to an app that starts,
   * and another tab may have written the end of an earlier session in its place.
   */
  isLost(tab: number, reason: string): boolean;
  /**
   * Sessions for which a tab may have sent an old token, because the other tab had used a newer one. That counts as
   * theft (libs/client/README.md, "Tabs and storage"). A session is among them if a tab that could not read the storage
   * logged it out, or refreshed it after a wipe, if a tab logged it out after a wipe, or if a wipe came right after a
   * write.
   */
  readonly blindSessions: Set<string>;
  /** The session whose refresh was last refused. */
  refused: string | undefined;
  readonly figures: Map<string, number>;
  kills(): number;
  observerOf(life: Life, state: () => AuthState | undefined): Observer;
  onEvent(tab: number, event: AuthEvent): void;
  onKill(faults: number): void;
  onFreeze(): void;
  /** Called when something begins that may overtake a login. */
  onOvertaking(): void;
  overtakings(): number;
  onRejected(what: string, error: unknown, isKnown: boolean): void;
  count(what: string): void;
}

export function createObserved(now: () => number, device: Pick<Device, 'faults' | 'mayLose' | 'wipes'>): Observed {
  const violations: string[] = [];
  const story: string[] = [];
  const note = (what: string) => void story.push(`${Math.round(now())} ${what}`);
  const figures = new Map<string, number>();
  const count = (what: string) => figures.set(what, (figures.get(what) ?? 0) + 1);
  const tokens = createTokens();
  const beginRefresh = createRefreshCount(violations);
  let kills = 0;
  let hasFrozen = false;
  let overtakings = 0;
  const onRefresh = (sessionId: string, own: string | undefined, life: Life) => {
    const signs = [own !== sessionId, device.wipes > 0, life.blindReads > 0];
    if (signs.filter(Boolean).length >= 2) observed.blindSessions.add(sessionId);
    // A tab waits 45 s for a frozen one, and then refreshes in parallel.
    return beginRefresh(sessionId, own === sessionId && !hasFrozen, life);
  };
  const observed: Observed = {
    ...{ violations, story, note, figures, count },
    mayEnd: new Set(),
    asked: new Map(),
    held: new Map(),
    isLost(tab, reason) {
      const { faults = device.faults, sessionId } = observed.held.get(tab) ?? {};
      // After a fault, the storage may return an earlier session, which has ended.
      const isEarlier = observed.refused !== sessionId && observed.mayEnd.has(observed.refused ?? '');
      return faults !== device.faults && (device.mayLose || isEarlier || ownReasons.includes(reason));
    },
    blindSessions: new Set(),
    refused: undefined,
    kills: () => kills,
    observerOf: (life, state) => ({
      onSent(sent) {
        const own = idOf(state());
        const sessionId = tokens.sessionOf(sent);
        note(`  sent ${sent.method} ${sent.path} ${tokens.nameOf(sent)}`);
        count(`sent ${sent.url.startsWith(serviceUrl) ? 'to a service' : sent.path}`);
        if (isTooLate(sent, sessionId, own)) violations.push(`${sent.path} got a token of a session that is over`);
        const isRefresh = sent.path.endsWith('/refresh');
        return sessionId !== undefined && isRefresh ? onRefresh(sessionId, own, life) : () => undefined;
      },
      onHandshake(url, token) {
        const sent: Sent = {
          ...{ url, path: url, method: 'GET', body: '' },
          headers: new Headers({ Authorization: token }),
        };
        const sessionId = tokens.sessionOf(sent);
        if (isTooLate(sent, sessionId, idOf(state())))
          violations.push('a stream got a token of a session that is over');
      },
      onAnswer: (sent, answer, isTwin) => learnAnswer(observed, tokens, sent, answer, isTwin),
    }),
    onEvent: (tab, event) => checkEvent(observed, tab, event),
    onKill() {
      kills += 1;
    },
    onFreeze() {
      hasFrozen = true;
    },
    onOvertaking() {
      overtakings += 1;
    },
    overtakings: () => overtakings,
    onRejected(what, error, isKnown) {
      const code = (error as { code?: string }).code ?? String(error);
      note(`  ${what} failed: ${code}`);
      count(`${what}: ${code}`);
      if (!isKnown) violations.push(`${what} failed with something else than an AuthError: ${code}`);
    },
  };
  return observed;
}

/**
 * Returns true if the request uses a token of a session that this tab does not hold. Only a logout and the refresh
 * before it may do so.
 */
function isTooLate({ path }: Sent, sessionId: string | undefined, own: string | undefined): boolean {
  return sessionId !== undefined && sessionId !== own && !/\/(logout|refresh)$/.test(path);
}

function idOf(state: AuthState | undefined): string | undefined {
  return state?.status === 'signed_in' ? state.session.session_id : undefined;
}

function learnAnswer(
  observed: Observed,
  tokens: KnownTokens,
  sent: Sent,
  { status, json }: Answer,
  isTwin: boolean,
): void {
  const { error_code: code = '', details, data } = json ?? {};
  observed.note(`  ${sent.method} ${sent.path} ${tokens.nameOf(sent)} → ${status} ${code}`);
  observed.count(`${status} ${sent.path} ${code} ${details?.reason ?? ''}`.trim());
  // The service ends the user's earlier session on the device; the client logs out another user's session. A repeated
  // login ends none.
  if (isLogin(sent) && status === 200 && !isTwin && !tokens.sessions.has(data.session_id))
    for (const each of tokens.sessions) observed.mayEnd.add(each);
  if (data?.refresh_token) tokens.learn(data);
  if (status === 401 && sent.path.endsWith('/refresh')) observed.refused = tokens.sessionOf(sent);
  const isBlind = observed.blindSessions.has(tokens.sessionOf(sent) ?? '');
  if (details?.reason === 'reused' && isBlind)
    observed.count('a refresh without a look at the storage counted as theft');
  else if (details?.reason === 'reused') observed.violations.push('an outdated token was sent, which counts as theft');
}

function checkEvent(
  { note, count, violations, held, mayEnd, blindSessions, isLost }: Observed,
  tab: number,
  event: AuthEvent,
): void {
  if (event.type !== 'signed_out') return;
  const { reason } = event;
  note(`  tab ${tab} is signed out: ${reason}`);
  count(`signed out: ${reason}`);
  const sessionId = held.get(tab)?.sessionId;
  const isHonest = sessionId !== undefined && !mayEnd.has(sessionId) && !isLost(tab, reason);
  const isTheft = reason === 'reused' && !blindSessions.has(sessionId ?? '');
  if (isTheft || reason === 'expired') violations.push(`signed out: ${reason}`);
  else if (isHonest && !ownReasons.includes(reason)) violations.push(`an honest sign-out: ${reason}`);
}

/**
 * Counts the refreshes in flight. A tab may have one for each session, and so may all tabs that hold the session
 * together. A refresh for a logout in another tab does no harm, because its session is about to end.
 */
function createRefreshCount(violations: string[]) {
  const inAllTabs = new Map<string, number>();
  const inTab = new WeakMap<Life, Map<string, number>>();
  const add = (counts: Map<string, number>, sessionId: string, change: number) => {
    const count = (counts.get(sessionId) ?? 0) + change;
    counts.set(sessionId, count);
    if (count > 1) violations.push('two refreshes of one session were in flight');
  };
  return (sessionId: string, isHeld: boolean, life: Life): (() => void) => {
    const own = inTab.get(life) ?? new Map<string, number>();
    inTab.set(life, own);
    const all = isHeld ? [own, inAllTabs] : [own];
    for (const counts of all) add(counts, sessionId, 1);
    let hasEnded = false;
    const end = () => {
      for (const counts of hasEnded ? [] : all) add(counts, sessionId, -1);
      hasEnded = true;
    };
    life.endings.add(end);
    return end;
  };
}
