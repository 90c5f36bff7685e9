import type { CloseReason } from '@auth-account/contracts/push/close-codes';
import { type Connection, closeConnection } from './connection.ts';

/** The owner of a stream. */
export interface StreamOwner {
  readonly sessionId: string;
  readonly groupId: string;
  readonly ver: number;
}

/** An upgrade that is under way. Commands reach it as they reach an open stream. */
export interface PendingUpgrade extends StreamOwner {
  /** Set if the session was closed during the upgrade, which must then be refused. */
  closedBy: CloseReason | undefined;
  /** Highest number among the session's other streams that were announced during the upgrade; 0 for none. */
  replacedBy: number;
}

export interface ConnectionRegistry {
  /** Number of open streams. */
  size(): number;
  /** Returns true if the gateway may have a stream of this session too, also if that replaces another one. */
  hasRoom(sessionId: string, maxStreams: number): boolean;
  /**
   * Returns true if the group may have this stream too. A stream that replaces another stream of its session is
   * allowed.
   */
  hasCapacity(owner: StreamOwner, maxStreams: number): boolean;
  /** Registers an upgrade. `endUpgrade` must follow, whatever the upgrade's outcome. */
  beginUpgrade(owner: StreamOwner): PendingUpgrade;
  endUpgrade(upgrade: PendingUpgrade): void;
  /** Adds an open stream. Of two streams of one session, the stream with the lower number is closed (4003). */
  add(connection: Connection, upgrade: PendingUpgrade): void;
  /** Removes a stream that has ended. */
  remove(connection: Connection): void;
  /** The sessions that have a stream or an upgrade under way. */
  sessions(): string[];
  has(sessionId: string): boolean;
  /** Closes the session's stream and upgrades for which `reasonFor` returns a reason. Returns their number. */
  close(sessionId: string, reasonFor: (ver: number) => CloseReason | undefined): number;
  /** Closes the session's stream (4003) if its number is below `streamNumber`. Returns true if it did. */
  replace(sessionId: string, streamNumber: number): boolean;
  /** The open streams. */
  connections(): Connection[];
  /** Returns the open streams of a group. */
  ofGroup(groupId: string): Connection[];
  /** Returns the open stream of a session, if any. */
  ofSession(sessionId: string): Connection[];
}

interface Group {
  readonly streams: Map<string, Connection>;
  pending: number;
}

/**
 * Registers streams. Finds them by session for commands, and by `home_group_id` for the group's limit and messages.
 * Each lookup is O(1).
 */
export function createConnectionRegistry(): ConnectionRegistry {
  const bySession = new Map<string, Connection>();
  const upgrades = new Map<string, Set<PendingUpgrade>>();
  const groups = createGroupIndex();

  return {
    size: () => bySession.size,
    hasRoom: (sessionId, maxStreams) => bySession.has(sessionId) || bySession.size + upgrades.size < maxStreams,
    hasCapacity({ sessionId, groupId }, maxStreams) {
      const group = groups.find(groupId);
      return group === undefined || group.streams.has(sessionId) || group.streams.size + group.pending < maxStreams;
    },
    beginUpgrade(owner) {
      const upgrade: PendingUpgrade = { ...owner, closedBy: undefined, replacedBy: 0 };
      const same = upgrades.get(owner.sessionId);
      if (same === undefined) upgrades.set(owner.sessionId, new Set([upgrade]));
      else same.add(upgrade);
      groups.obtain(owner.groupId).pending += 1;
      return upgrade;
    },
    endUpgrade(upgrade) {
      const same = upgrades.get(upgrade.sessionId);
      if (!same?.delete(upgrade)) return;
      if (same.size === 0) upgrades.delete(upgrade.sessionId);
      groups.obtain(upgrade.groupId).pending -= 1;
      groups.dropIfEmpty(upgrade.groupId);
    },
    add(connection, { replacedBy }) {
      const { sessionId, groupId, streamNumber } = connection;
      const other = bySession.get(sessionId);
      if (replacedBy > streamNumber || (other !== undefined && other.streamNumber > streamNumber)) {
        closeConnection(connection, 'STREAM_REPLACED');
        return;
      }
      bySession.set(sessionId, connection);
      groups.obtain(groupId).streams.set(sessionId, connection);
      if (other !== undefined) closeConnection(other, 'STREAM_REPLACED');
    },
    remove(connection) {
      const { sessionId, groupId } = connection;
      if (bySession.get(sessionId) === connection) bySession.delete(sessionId);
      const group = groups.find(groupId);
      if (group?.streams.get(sessionId) === connection) group.streams.delete(sessionId);
      groups.dropIfEmpty(groupId);
    },
    sessions: () => [...new Set([...bySession.keys(), ...upgrades.keys()])],
    has: (sessionId) => bySession.has(sessionId) || upgrades.has(sessionId),
    close(sessionId, reasonFor) {
      let found = 0;
      const connection = bySession.get(sessionId);
      const reason = connection && reasonFor(connection.ver);
      if (connection && reason && closeConnection(connection, reason)) found += 1;
      for (const upgrade of upgrades.get(sessionId) ?? []) {
        upgrade.closedBy ??= reasonFor(upgrade.ver);
        if (upgrade.closedBy) found += 1;
      }
      return found;
    },
    replace(sessionId, streamNumber) {
      for (const upgrade of upgrades.get(sessionId) ?? []) {
        upgrade.replacedBy = Math.max(upgrade.replacedBy, streamNumber);
      }
      const connection = bySession.get(sessionId);
      if (connection === undefined || connection.streamNumber >= streamNumber) return false;
      return closeConnection(connection, 'STREAM_REPLACED');
    },
    connections: () => [...bySession.values()],
    ofGroup: (groupId) => [...(groups.find(groupId)?.streams.values() ?? [])],
    ofSession: (sessionId) => [bySession.get(sessionId) ?? []].flat(),
  };
}

function createGroupIndex() {
  const groups = new Map<string, Group>();
  return {
    find: (groupId: string): Group | undefined => groups.get(groupId),
    obtain(groupId: string): Group {
      let group = groups.get(groupId);
      if (group === undefined) {
        group = { streams: new Map(), pending: 0 };
        groups.set(groupId, group);
      }
      return group;
    },
    dropIfEmpty(groupId: string): void {
      const group = groups.get(groupId);
      if (group !== undefined && group.pending === 0 && group.streams.size === 0) groups.delete(groupId);
    },
  };
}
