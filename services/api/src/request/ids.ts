import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** The source of new ids (docs/specification/requests.md, "Answers"). */
export interface Ids {
  /** UUIDv7, for users, sessions and events: they sort by time. Greater than `after`, whatever the clocks say. */
  entityId(after?: string): string;
  /** UUIDv4 from the system's CSPRNG: it reveals nothing. */
  groupId(): string;
  /** UUIDv4 from the same source, for a device that brings no id of its own. */
  deviceId(): string;
  /** UUIDv4 from the same source: its holder can join. */
  inviteToken(): string;
  /** UUIDv4 from the same source: only the app that asked for a code knows it. */
  challengeId(): string;
}

export const systemIds: Ids = {
  entityId(after = '') {
    const id = v7();
    return id > after ? id : v7({ msecs: Number.parseInt(after.replace('-', '').slice(0, 12), 16) + 1 });
  },
  groupId: () => randomUUID(),
  deviceId: () => randomUUID(),
  inviteToken: () => randomUUID(),
  challengeId: () => randomUUID(),
};
