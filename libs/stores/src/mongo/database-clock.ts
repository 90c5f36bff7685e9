import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import type { MongoClient } from 'mongodb';

/**
 * The clock by which services write and judge all times of their own. It keeps to MongoDB's clock, so that processes
 * agree, however wrong the clocks of their hosts are. Two such clocks differ by at most twice {@link toleranceMs},
 * unless MongoDB's answers take longer than that. Times that users' devices or identity providers write need the host's
 * clock.
 */
export interface DatabaseClock {
  /** Milliseconds since the epoch. By the host's clock until MongoDB has answered once. */
  readonly now: () => number;
  /** Asks MongoDB once. Never rejects: without an answer, the last correction stays. */
  ask(mongo: MongoClient): Promise<void>;
  /** Asks MongoDB at once, and then every {@link intervalMs} until `stop` is aborted. Never rejects. */
  follow(mongo: MongoClient, stop: AbortSignal): Promise<void>;
}

export interface DatabaseClockDeps {
  /** Milliseconds since the epoch by the host's clock. */
  readonly host: () => number;
  /** Called with the milliseconds by which MongoDB's clock is ahead of the host's when the clock has been corrected. */
  readonly onCorrected: (aheadMs: number) => void;
}

/** Difference in ms that is left alone. It is more than the usual drift between two corrections. */
const toleranceMs = 250;
const intervalMs = 5_000;

/** Reads the database's clock. It asks nothing by itself. */
export function createDatabaseClock({ host, onCorrected }: DatabaseClockDeps): DatabaseClock {
  let aheadMs = 0;
  const now = () => host() + aheadMs;

  async function correct(mongo: MongoClient): Promise<void> {
    const asked = now();
    const { localTime } = await mongo.db('admin').command({ hello: 1 });
    const answered = now();
    const tripMs = answered - asked;
    const offMs = (localTime as Date).getTime() - (asked + tripMs / 2);
    // The answer's age is unknown within the time of the trip, and a step of the host's clock makes this time wrong.
    if (tripMs < 0 || Math.abs(offMs) <= Math.max(toleranceMs, tripMs)) return;
    aheadMs += Math.round(offMs);
    onCorrected(aheadMs);
  }

  // The requests that need MongoDB report that it is away.
  const ask = (mongo: MongoClient) => correct(mongo).catch(() => undefined);

  return {
    now,
    ask,
    follow: (mongo, stop) => runAndRepeat(() => ask(mongo), intervalMs, stop),
  };
}

/** Returns the function that logs and exports each correction, because an operator should set the host's clock right. */
export function reportClock(
  logger: { warn(fields: object, text: string): void },
  setGauge: (store: 'mongodb', aheadMs: number) => void,
): DatabaseClockDeps['onCorrected'] {
  setGauge('mongodb', 0);
  return (ahead_ms) => {
    setGauge('mongodb', -ahead_ms);
    logger.warn({ ahead_ms }, "MongoDB's clock differs from this host's; its time is used");
  };
}
