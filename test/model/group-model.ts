/** A person of the model, by number. */
export type Person = number;

/** A group, with its owner, and all its members in the order in which they joined. */
interface Group {
  readonly type: 'HOME' | 'OFFICE';
  owner: Person;
  members: Person[];
  /** Number of the valid invite. The removal of a member who joined by it ends it. */
  invite: number;
}

/** Expected answer to a request. */
export type Outcome = 'done' | 'already member' | 'invite over' | 'not the owner' | 'no such member';

/** A model of docs/specification/groups-and-invites.md, without stores: who lives in which group, and who owns it. */
export interface GroupModel {
  readonly groups: readonly Group[];
  groupOf(person: Person): number;
  /** Returns how often the person has changed groups. Tokens from before the last change are refused. */
  movesOf(person: Person): number;
  accept(person: Person, group: number, isAgreed: boolean): Outcome;
  leave(person: Person): Outcome;
  remove(caller: Person, person: Person): Outcome;
  handOver(caller: Person, person: Person): Outcome;
}

/**
 * Creates a model in which each person begins in a separate space of a given type. `maxMembers` limits a group's
 * members.
 */
export function newGroupModel(types: readonly Group['type'][], maxMembers: number): GroupModel {
  const groups: Group[] = types.map((type, person) => ({ type, owner: person, members: [person], invite: 0 }));
  const moves = types.map(() => 0);
  /** The invite by which each person joined the present group. */
  const cameBy: (number | undefined)[] = [];
  const groupOf = (person: Person) => groups.findIndex(({ members }) => members.includes(person));
  const present = (person: Person) => groups[groupOf(person)] as Group;

  function move(person: Person, target: Group, invite?: number): Outcome {
    const left = present(person);
    left.members = left.members.filter((member) => member !== person);
    if (left.owner === person && left.members[0] !== undefined) left.owner = left.members[0];
    target.members = [...target.members, person];
    cameBy[person] = invite;
    moves[person] = (moves[person] ?? 0) + 1;
    return 'done';
  }

  function moveHome(person: Person): Outcome {
    const home: Group = { type: 'HOME', owner: person, members: [], invite: 0 };
    move(person, home);
    groups.push(home);
    return 'done';
  }

  return {
    groups,
    groupOf,
    movesOf: (person) => moves[person] ?? 0,
    accept(person, group, isAgreed) {
      const target = groups[group] as Group;
      if (groupOf(person) === group) return 'already member';
      if (target.members.length === 0 || target.members.length >= maxMembers) return 'invite over';
      return isAgreed ? move(person, target, target.invite) : 'already member';
    },
    leave: moveHome,
    handOver(caller, person) {
      const group = present(caller);
      if (group.owner !== caller) return 'not the owner';
      if (!group.members.includes(person)) return 'no such member';
      group.owner = person;
      return 'done';
    },
    remove(caller, person) {
      const group = present(caller);
      if (group.owner !== caller) return 'not the owner';
      if (person === caller) return moveHome(person);
      if (!group.members.includes(person)) return 'no such member';
      if (cameBy[person] === group.invite) group.invite += 1;
      return moveHome(person);
    },
  };
}
