import { decideRefresh, type Generations } from '../../services/api/src/usecases/sessions/decide-refresh.ts';

/** The part of a session on which the decision about a refresh depends. */
export interface SimulatedSession extends Generations {
  readonly handed_out_at: Date;
  readonly isRevoked: boolean;
}

export const newSimulatedSession = (at: number): SimulatedSession => ({
  gen: 1,
  parent: 0,
  floor: 0,
  handed_out_at: new Date(at),
  isRevoked: false,
});

/** Simulates a refresh. Returns the session after it, and the generation of the answer's token; undefined for a 401. */
export function simulateRefresh(
  session: SimulatedSession,
  presented: number,
  at: number,
  retryWindowMs: number,
): { readonly session: SimulatedSession; readonly answer: number | undefined } {
  if (session.isRevoked) return { session, answer: undefined };
  const decision = decideRefresh(session, presented, new Date(at), retryWindowMs);
  if (decision.kind === 'reuse') return { session: { ...session, isRevoked: true }, answer: undefined };
  if (decision.kind === 'repeat') return { session, answer: session.gen };
  return { session: { ...session, ...decision.next, handed_out_at: new Date(at) }, answer: decision.next.gen };
}

/** A local constant, because looking up a global is slow in Jest's contexts. */
const { imul } = Math;

/** Creates a source of reproducible numbers in [0, 1) (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Network {
  readonly random: () => number;
  /** Fraction of the answers that are lost. */
  readonly lostAnswers: number;
  /** Fraction of the requests that are late, by up to `lateMs`; they arrive even if the client has given them up. */
  readonly lateRequests: number;
  readonly lateMs: number;
}

export interface Course {
  readonly network: Network;
  readonly retryWindowMs: number;
  /** Number of successful refreshes of the owner. */
  readonly refreshes: number;
  /** Number of these after which a thief copies the owner's token; absent if there is no thief. */
  readonly theftAfter?: number;
}

export interface Outcome {
  readonly isRevoked: boolean;
  /** Successful refreshes of the thief. */
  readonly thiefRefreshes: number;
}

/** The longest time an app waits for an answer (docs/apps.md, "Refreshing"). */
const timeoutMs = 20_000;
/** The lifetime of an access token. No app refreshes earlier, and some sleep longer. */
const shortestPauseMs = 600_000;

/**
 * Simulates one session from its login on. Its owner follows the client rules on a bad network. A thief, if there is
 * one, refreshes with the thief's own newest token, at other times, on a good network.
 */
export function simulateSession({ network, retryWindowMs, refreshes, theftAfter }: Course): Outcome {
  const { random } = network;
  const events = createTimeline();
  let session = newSimulatedSession(0);
  let ownerToken = 1;
  let done = 0;
  let thiefToken: number | undefined;
  let thiefRefreshes = 0;

  const pause = () => shortestPauseMs * (1 + random() * 5);
  const present = (token: number, at: number) => {
    const result = simulateRefresh(session, token, at, retryWindowMs);
    session = result.session;
    return result.answer;
  };

  function sendOwners(at: number): void {
    const token = ownerToken;
    const late = random() < network.lateRequests ? random() * network.lateMs : 0;
    const isLost = random() < network.lostAnswers;
    // If no answer came, half of the apps try again at once, and half when their user returns within an hour.
    const again = at + timeoutMs + (random() < 0.5 ? 0 : random() * 3_600_000);
    const isInTime = late < timeoutMs && !isLost;
    events.add(at + late, (now) => {
      const answer = present(token, now);
      if (answer !== undefined && isInTime) succeed(answer, now);
    });
    if (!isInTime) events.add(again, sendOwners);
  }

  function succeed(answer: number, at: number): void {
    ownerToken = answer;
    done += 1;
    if (done === theftAfter) {
      thiefToken = answer;
      events.add(at + random() * pause(), sendThiefs);
    }
    if (done < refreshes) events.add(at + pause(), sendOwners);
  }

  function sendThiefs(at: number): void {
    const answer = present(thiefToken as number, at);
    if (answer === undefined) return;
    thiefToken = answer;
    thiefRefreshes += 1;
    if (done < refreshes) events.add(at + pause(), sendThiefs);
  }

  events.add(pause(), sendOwners);
  events.run(() => session.isRevoked);
  return { isRevoked: session.isRevoked, thiefRefreshes };
}

type Happening = (at: number) => void;

/** Creates a list of events in the order of time. */
function createTimeline() {
  const waiting: { readonly at: number; readonly happen: Happening }[] = [];
  return {
    add(at: number, happen: Happening): void {
      const next = waiting.findIndex((other) => other.at > at);
      waiting.splice(next === -1 ? waiting.length : next, 0, { at, happen });
    },
    run(isOver: () => boolean): void {
      for (let next = waiting.shift(); next !== undefined && !isOver(); next = waiting.shift()) next.happen(next.at);
    },
  };
}
