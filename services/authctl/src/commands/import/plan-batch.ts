import { randomUUID } from 'node:crypto';
import { type Collections, emailKey } from '@auth-account/stores';
import type { GroupDocument, UserDocument } from '@auth-account/stores/documents';
import { v7 } from 'uuid';
import type { ImportRecord } from './parse-import-record.ts';

/** Documents that one transaction is to write, and the lines that it leaves out. */
export interface BatchPlan {
  readonly users: UserDocument[];
  readonly newGroups: GroupDocument[];
  /** Number of accounts that join, by group. */
  readonly joins: ReadonlyMap<string, number>;
  /** Email addresses that already have an account. */
  readonly existing: number;
  readonly rejected: { readonly line: number; readonly reason: string }[];
}

/** Documents that the batches of a dry run would have written so far. */
export interface Foreseen {
  readonly emailKeys: Set<string>;
  /** Groups by their `import_key`. */
  readonly groups: Map<string, GroupDocument>;
}

export interface PlanOptions {
  /** Namespace that separates the group keys of different sources. */
  readonly namespace: string;
  readonly now: Date;
  /** Documents that count as existing. Only a dry run has them. */
  readonly foreseen: Foreseen | undefined;
}

/** Reads which accounts exist, and creates the documents of the other accounts. */
export async function planBatch(
  { users, groups }: Collections,
  records: readonly ImportRecord[],
  { namespace, now, foreseen }: PlanOptions,
): Promise<BatchPlan> {
  const emails = records.map(({ email }) => emailKey(email));
  const keys = [...new Set(records.flatMap(({ groupKey }) => groupKey ?? []))].map((key) => importKey(namespace, key));
  const [taken, known] = await Promise.all([
    users.find({ email_key: { $in: emails } }, { projection: { email_key: 1 } }).toArray(),
    keys.length === 0 ? [] : groups.find({ import_key: { $in: keys } }).toArray(),
  ]);
  const seen = new Set(taken.map(({ email_key }) => email_key));
  const isTaken = (key: string) => seen.has(key) || foreseen?.emailKeys.has(key) === true;
  const spaces = createSpaces([...known, ...keys.flatMap((key) => foreseen?.groups.get(key) ?? [])], namespace);
  const plan = { users: [] as UserDocument[], existing: 0, rejected: [] as BatchPlan['rejected'] };

  for (const record of records) {
    const _id = v7();
    const group = isTaken(emailKey(record.email)) ? undefined : spaces.enter(record, _id);
    if (group === undefined) plan.existing += 1;
    else if ('reason' in group) plan.rejected.push({ line: record.line, reason: group.reason });
    else {
      seen.add(emailKey(record.email));
      plan.users.push(toUser(record, _id, group, now));
    }
  }
  return { ...plan, newGroups: spaces.newGroups(), joins: spaces.joins };
}

/** Returns the key as JSON, so that no two pairs of namespace and key give the same text. */
function importKey(namespace: string, key: string): string {
  return JSON.stringify([namespace, key]);
}

/** Counts the accounts that join each group. The group exists already, or the batch creates it. */
function createSpaces(known: readonly GroupDocument[], namespace: string) {
  const byKey = new Map(known.map((group) => [group.import_key, group]));
  const made = new Map<string, GroupDocument>();
  const joins = new Map<string, number>();

  function enter(record: ImportRecord, userId: string): GroupDocument | { readonly reason: string } {
    const key = record.groupKey === undefined ? undefined : importKey(namespace, record.groupKey);
    const old = key === undefined ? undefined : byKey.get(key);
    const fresh = key === undefined ? undefined : made.get(key);
    const reason = findGroupFault(record, old ?? fresh);
    if (reason !== undefined) return { reason };
    if (old) {
      joins.set(old._id, (joins.get(old._id) ?? 0) + 1);
      return old;
    }
    const group = fresh ? { ...fresh, member_count: fresh.member_count + 1 } : newGroup(record, userId, key);
    made.set(key ?? group._id, group);
    return group;
  }

  return { enter, joins, newGroups: () => [...made.values()] };
}

function findGroupFault({ accountType }: ImportRecord, group: GroupDocument | undefined): string | undefined {
  if (group === undefined) return undefined;
  if (group.closed_at !== null) return 'its group was closed, as its last member left';
  return group.account_type === accountType ? undefined : `its group is ${group.account_type}`;
}

function newGroup(
  { accountType, createdAt }: ImportRecord,
  owner_id: string,
  import_key: string | undefined,
): GroupDocument {
  return {
    _id: randomUUID(),
    account_type: accountType,
    owner_id,
    member_count: 1,
    created_at: createdAt,
    closed_at: null,
    ...(import_key === undefined ? {} : { import_key }),
  };
}

function toUser(
  { email, passwordHash, createdAt }: ImportRecord,
  _id: string,
  group: GroupDocument,
  now: Date,
): UserDocument {
  return {
    _id,
    email,
    email_key: emailKey(email),
    password_hash: passwordHash,
    home_group_id: group._id,
    account_type: group.account_type,
    role: group.owner_id === _id ? 'owner' : 'member',
    created_at: createdAt,
    joined_at: now,
  };
}
