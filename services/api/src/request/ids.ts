import { randomInt, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** The source of new ids (docs/specification/requests.md, "Answers"). */
export interface Ids {
  /**
   * UUIDv7, for users, sessions and events, because it sorts by time. It is greater than `after`, even if clocks are
   * wrong.
   */
  entityId(after?: string): string;
  /** UUIDv4 from the system's CSPRNG, so that it reveals nothing. */
  groupId(): string;
  /** UUIDv4 from the same source, for a device that sends no id of its own. */
  deviceId(): string;
  /** UUIDv4 from the same source, because the token lets its holder join. */
  inviteToken(): string;
  /** UUIDv4 from the same source, because only the app that asked for a code may know it. */
  challengeId(): string;
}

/** Creates the ids of a process. `now`: milliseconds since the epoch. `entityId` counts up within one. */
export function createIds(now: () => number): Ids {
  let [msecs, seq] = [0, 0];
  return {
    entityId(after = '') {
      const at = Math.floor(now());
      [msecs, seq] = at > msecs ? [at, randomInt(2 ** 31)] : [msecs, seq + 1];
      const id = v7({ msecs, seq });
      return id > after ? id : v7({ msecs: Number.parseInt(after.replace('-', '').slice(0, 12), 16) + 1 });
    },
    groupId: () => randomUUID(),
    deviceId: () => randomUUID(),
    inviteToken: () => randomUUID(),
    challengeId: () => randomUUID(),
  };
}
