import { AppError } from '@auth-account/errors';
import type { TopologyDescription } from 'mongodb';
import type { Collections } from './collections.ts';

/** Shows that nothing that was read of the primary, by whatever reads, can be rolled back. */
export interface Fence {
  /**
   * Must be called before the first read. The returned function resolves once a majority has everything that the
   * primary had accepted before its call. It throws the driver's error if that takes too long, and
   * `ERR-DEPENDENCY-UNAVAILABLE` if there was an election since `begin`: the reads may have shown what the former
   * primary has lost.
   */
  begin(): () => Promise<void>;
}

/**
 * Fences the reads of a client, which must not be connected yet, because the present primary is known from the driver's
 * events. All callers since the last fence began share the next one, so a flood of them costs one note in the oplog at
 * a time.
 */
export function createFence({ sessions }: Pick<Collections, 'sessions'>): Fence {
  let election: string | undefined;
  let passNext = createShared(() => pass(sessions));
  sessions.db.client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const present = electionOf(newDescription);
    // A connection that breaks hides the primary for a moment. The last election still counts then, unless a later one
    // comes to light.
    if (present === undefined || present === election) return;
    election = present;
    // A fence at the former primary may not end for a long time.
    passNext = createShared(() => pass(sessions));
  });
  return {
    begin() {
      const begun = election;
      return async () => {
        const passed = await passNext();
        if (begun === undefined || passed !== begun) {
          throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
        }
      };
    },
  };
}

/**
 * Returns the result of the next run, which begins after the call. One run is under way at a time. Callers that wait
 * for its end fail with it, because their run would take as long.
 */
function createShared<T>(run: () => Promise<T>): () => Promise<T> {
  let present: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = () => {
    const running = run();
    [present, next] = [running, undefined];
    running.then(
      () => {
        present = undefined;
      },
      () => {
        [present, next] = [undefined, undefined];
      },
    );
    return running;
  };
  return () => {
    if (present === undefined) return begin();
    next ??= present.then(begin);
    return next;
  };
}

/**
 * Passes a fence. Returns the election of the primary after it. If a transaction has written nothing, the server writes
 * a note of its commit into the oplog, and waits until a majority has the note. A linearizable read does the same, but
 * does not make the primary sync its journal, which in a set of one or two members takes 100 ms.
 */
async function pass(sessions: Collections['sessions']): Promise<string | undefined> {
  await sessions.db.client.withSession(async (session) => {
    session.startTransaction({
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', wtimeoutMS: 4_500 },
    });
    await sessions.findOne({ _id: '' }, { session });
    await session.commitTransaction();
  });
  // The driver's events may come later than an answer of the new primary.
  const { electionId } = await sessions.db.command({ hello: 1 });
  return electionId?.toHexString();
}

/** Returns the id of the election that made the present primary; undefined if the driver knows no primary. */
function electionOf({ servers }: TopologyDescription): string | undefined {
  return [...servers.values()].find(({ type }) => type === 'RSPrimary')?.electionId?.toHexString();
}
