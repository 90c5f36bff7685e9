import type { App, Person } from './app.ts';
import { callOf, callUntilAnswered, type Reply, violate } from './app-request.ts';
import type { ChangeKind, ChangeRecord, Credentials } from './ledger.ts';

/** Returns the e-mail address and password that are most likely valid now. */
export function heldBy({ holds }: Pick<Person, 'holds'>): Credentials {
  const [pair] = holds;
  if (pair === undefined) throw new Error('a user without credentials');
  return pair;
}

/** Adds a change of the account to the account's records, with an unknown outcome. */
export function beginChange({ account }: Person, kind: ChangeKind): ChangeRecord {
  const change: ChangeRecord = { kind, outcome: 'perhaps' };
  account?.changes.push(change);
  return change;
}

/** Records which email address and password are valid, after a login has shown this. */
export function settle(person: Person, pair: Credentials): void {
  const [first, ...others] = person.holds;
  if (others.length === 0) return;
  const isDone = pair === first;
  for (const change of person.unsureChanges ?? []) change.outcome = isDone ? 'done' : 'none';
  const gone = isDone ? others : [];
  person.account?.former.push(...gone.filter(({ password }) => password !== undefined));
  person.holds = [pair];
  person.unsureChanges = undefined;
}

/** Returns true if no change of the account is uncertain or under way. */
export function isSettled({ holds, errand, wantedEmail, deletion }: Person): boolean {
  const isOpen = errand !== undefined || wantedEmail !== undefined || deletion !== undefined;
  return !isOpen && holds.length === 1;
}

const hourMs = 3_600_000;

/** Returns true if a worker may erase the account now. */
export function isDue({ deletesAt }: { readonly deletesAt: number | undefined }): boolean {
  return deletesAt !== undefined && deletesAt < Date.now() + hourMs;
}

function lastOrder({ account }: Person): ChangeRecord | undefined {
  return account?.changes.findLast(({ kind }) => kind === 'deletion_scheduled');
}

/** Records a successful login, which shows that the account is not to be deleted. */
export function meetLogin(app: App): void {
  const { person } = app;
  const { deletion } = person;
  if (deletion === undefined) return;
  if (deletion.deletesAt !== undefined) violate(app, 'a deleted account let somebody in', {}, { deletion });
  const ordered = lastOrder(person);
  if (ordered?.outcome === 'perhaps') ordered.outcome = 'none';
  person.deletion = undefined;
}

/**
 * Records a login that was refused because the account is erased, or because it is to be deleted. In the latter case
 * the answer names the time of the erasure.
 */
export function meetDeletion(app: App, { status, details }: Reply): void {
  const { person } = app;
  const { deletion } = person;
  const isGone = status === 401;
  const deletesAt = isGone ? 0 : Date.parse(String(details.deletes_at));
  const expected = deletion?.deletesAt;
  const detail = { expected, deletesAt };
  if (deletion === undefined) violate(app, 'an account is deleted that nobody has deleted', {}, detail);
  else if (expected !== undefined && (isGone ? !isDue(deletion) : expected !== deletesAt)) {
    violate(app, 'an account is deleted at another time than announced', {}, detail);
  }
  const ordered = lastOrder(person);
  if (ordered !== undefined) ordered.outcome = 'done';
  person.deletion = { deletesAt };
}

/** Logs in with an email address and password that are no longer valid. This must be refused. */
export async function tryFormer(app: App): Promise<void> {
  const pair = app.person.account?.former.at(-1);
  if (pair === undefined) return;
  const input = { ...pair, device_id: app.device.deviceId };
  const { reply } = await callUntilAnswered(app, callOf('login, unusable', 'logIn', input));
  if (reply !== undefined && reply.status !== 401) violate(app, 'an unusable password was not refused', reply);
}
