import type { Collections } from '@auth-account/stores';
import { settle } from '../load/app.ts';
import type { History } from '../load/history.ts';
import { type SdkUser, stateOf } from './sdk-user.ts';

export interface SdkEvidence {
  readonly users: readonly SdkUser[];
  readonly history: History;
  readonly collections: Pick<Collections, 'sessions' | 'users'>;
  /** Milliseconds within which all checks must succeed, from the time that all parts are ready and every app runs. */
  readonly patienceMs: number;
}

/**
 * Checks that every signed-in user can work and has a stream, that every logout has ended its session, and that no app
 * has leaked a secret. Must be called when all parts are ready and every app runs with a network.
 */
export async function checkSdkUsers(evidence: SdkEvidence): Promise<void> {
  await Promise.all([
    ...evidence.users.map((user) => checkSignedIn(user, evidence)),
    checkLogouts(evidence),
    checkSignInMethods(evidence),
  ]);
  for (const { id, phone } of evidence.users) {
    for (const said of phone.secrets.leaks()) {
      evidence.history.violate('an app of the client has revealed a secret', { user: id, said: said.split('\n')[0] });
    }
  }
}

async function checkSignedIn(user: SdkUser, { history, patienceMs }: SdkEvidence): Promise<void> {
  const fault = await settle(patienceMs, () => findFault(user));
  if (fault !== undefined) history.violate(fault.what, { user: user.id, sessionId: user.sessionId, code: fault.code });
  else if (stateOf(user).status === 'signed_in') user.figures.signedIn += 1;
}

async function findFault(user: SdkUser): Promise<{ readonly what: string; readonly code?: unknown } | undefined> {
  const state = stateOf(user);
  if (state.status === 'signed_out') return;
  if (state.status === 'unknown' || user.app === undefined) return { what: 'an app of the client does not run' };
  const { auth } = user.app;
  const found = await auth.group.find().catch((error: Error) => error);
  if (found instanceof Error) {
    const { code } = found as Error & { readonly code?: unknown };
    return { what: 'a signed-in user of the client cannot work', code };
  }
  if (found.home_group_id !== state.session.home_group_id) {
    return { what: 'an app of the client speaks of another group than its user is in' };
  }
  return auth.stream.isOpen() ? undefined : { what: 'the stream of a signed-in user of the client is not open' };
}

/** Checks that every account has the sign-in method that its app knows. */
async function checkSignInMethods({ users, history, collections }: SdkEvidence): Promise<void> {
  for (const { id, signInMethod, hasSignInMethod, registration } of users) {
    if (!hasSignInMethod || registration?.userId === undefined) continue;
    const stored = await collections.users.findOne({ _id: registration.userId });
    const has = signInMethod === 'totp' ? stored?.totp !== undefined : (stored?.passkeys ?? []).length > 0;
    if (!has) history.violate('a sign-in method of a user of the client is gone', { user: id, signInMethod });
  }
}

/** Checks that every session that its user logged out has ended in the store, whatever the phone's state then. */
async function checkLogouts({ users, history, collections, patienceMs }: SdkEvidence): Promise<void> {
  const loggedOut = users.flatMap((user) => [...user.loggedOut]);
  const live = await settle(patienceMs, async () => {
    const filter = { _id: { $in: loggedOut }, is_revoked: false };
    const left = await collections.sessions.find(filter, { projection: { _id: 1 } }).toArray();
    return left.length === 0 ? undefined : left.map(({ _id }) => _id);
  });
  for (const sessionId of live ?? []) {
    history.violate('a logout of a user of the client has not reached the service', { sessionId });
  }
}
