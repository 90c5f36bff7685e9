import { AuthError } from '@auth-account/client';
import { codeAt } from '../../../support/api/second-factor.ts';
import { beginRegistration, type Registration } from '../load/ledger.ts';
import type { App } from './phone.ts';
import { attempt, type SdkUser, stateOf } from './sdk-user.ts';

/** Something that a user does with the running app. */
export type Action = (user: SdkUser, app: App) => Promise<void>;

/** Error codes that are allowed, because the invite may be over, or a move without an answer may have taken effect. */
const overInvite = ['ERR-INVITE-TOKEN-INVALID', 'IAD_GROUP_INVITE_EXPIRED', 'IAD_GROUP_ALREADY_MEMBER'];

/** Fills in the form once. The user sends it again until there is an answer, even after the app was killed. */
function formOf({ world, email, random, isHost, household, registration }: SdkUser): Registration {
  if (registration !== undefined) return registration;
  const invite = isHost || random() < 0.5 ? undefined : household.invite;
  // Only the app knows the user's group.
  return beginRegistration(world.ledger, email, { invite });
}

export const register: Action = async (user, app) => {
  const { email, password } = user;
  const form = formOf(user);
  user.registration = form;
  const { invite } = form;
  const space = invite
    ? ({ space_creation_mode: 'JOIN_EXISTING', invite_token: invite } as const)
    : ({ space_creation_mode: 'CREATE_NEW_HOME' } as const);
  const work = (auth: App['auth']) => auth.register({ email, password, ...space });
  const answer = await attempt(user, app, 'register', work, overInvite);
  if (answer instanceof AuthError) {
    // The registration was refused because of this invite, so the user fills in a new form, and nobody is registered.
    if (overInvite.includes(answer.code)) {
      form.outcome = 'refused';
      user.household.invite = undefined;
      user.registration = undefined;
    }
    return;
  }
  form.outcome = 'acknowledged';
  form.userId = answer.user_id;
  form.firstGroupId = answer.home_group_id;
};

export const logIn: Action = async (user, app) => {
  const { figures } = user;
  user.isLoginUnsure = true;
  user.wantsOut = false;
  const answer = await openSession(user, app);
  if (answer instanceof AuthError) return;
  user.isLoginUnsure = false;
  user.sessionId = answer.session_id;
  figures.sessions += 1;
};

export const logOut: Action = async (user, app) => {
  const { id, figures, world, phone } = user;
  user.wantsOut = true;
  figures.signOuts += 1;
  if (!phone.network.isOn()) figures.offline += 1;
  await attempt(user, app, 'logOut', (auth) => auth.logOut());
  const { status } = stateOf(user);
  if (status !== 'signed_out') world.history.violate('a user who has logged out is signed in', { user: id, status });
};

export const read: Action = async (user, app) => {
  const which = user.random();
  if (which < 0.3) await readAccount(user, app);
  else if (which < 0.6) await attempt(user, app, 'group.find', (auth) => auth.group.find());
  else await readSessions(user, app);
};

const readAccount: Action = async (user, app) => {
  const answer = await attempt(user, app, 'account.find', (auth) => auth.account.find());
  if (answer instanceof AuthError || answer.user_id === user.registration?.userId) return;
  user.world.history.violate('an app of the client read the account of somebody else', { user: user.id });
};

const readSessions: Action = async (user, app) => {
  const { sessionId } = user;
  const answer = await attempt(user, app, 'sessions.list', (auth) => auth.sessions.list());
  // A login without an answer may have replaced the session.
  if (user.isLoginUnsure || answer instanceof AuthError) return;
  if (answer.sessions.some(({ session_id }) => session_id === sessionId)) return;
  user.world.history.violate('an app of the client does not find its own session', { user: user.id, sessionId });
};

/** Creates the host's invite, which lasts; the other user moves in with it, or out again. */
export const move: Action = async (user, app) => {
  const { isHost, household, random } = user;
  const { invite } = household;
  if (isHost) {
    if (invite !== undefined) return;
    const answer = await attempt(user, app, 'invites.create', (auth) => auth.invites.create());
    if (!(answer instanceof AuthError)) household.invite = answer.invite_token;
  } else if (invite === undefined || random() < 0.5) {
    await attempt(user, app, 'group.leave', (auth) => auth.group.leave());
  } else {
    user.phone.secrets.add(invite);
    const work = (auth: App['auth']) => auth.invites.accept(invite, { leave_current_group: true });
    await attempt(user, app, 'invites.accept', work, overInvite);
  }
};

/** Codes with which a right factor may be refused: it was used up, or the clocks of the services differ. */
const used = ['ERR-SECOND-FACTOR-INVALID', 'ERR-CODE-EXPIRED'];
const demanded = ['ERR-SECOND-FACTOR-REQUIRED'];
const isOnAlready = ['ERR-STEP-UP-REQUIRED'];
const over = ['ERR-CODE-EXPIRED'];
/** The service may not have the passkeys of a creation without an answer. */
const unsure = ['ERR-CODE-EXPIRED', 'ERR-PASSKEY-INVALID', 'ERR-PASSKEY-EXISTS'];

/** Limit for the creations of a passkey without an answer. */
const maxPasskeys = 5;
const stepMs = 30_000;

/** Returns true if the user still has to add the sign-in method besides the password. */
export function lacksSignInMethod({ signInMethod, hasSignInMethod, phone }: SdkUser): boolean {
  if (signInMethod === 'password' || hasSignInMethod) return false;
  return signInMethod === 'totp' || phone.authenticator.credentialIds.length < maxPasskeys;
}

/** Adds the user's sign-in method besides the password. */
export async function addSignInMethod(user: SdkUser, app: App): Promise<void> {
  await (user.signInMethod === 'totp' ? switchOn(user, app) : addPasskey(user, app));
}

async function switchOn(user: SdkUser, app: App): Promise<void> {
  const { password: current_password, secret: earlier, phone } = user;
  const begin = (auth: App['auth']) => auth.secondFactor.createTotp({ current_password });
  const begun = await attempt(user, app, 'createTotp', begin, earlier === undefined ? [] : isOnAlready);
  if (begun instanceof AuthError) {
    // A confirmation without an answer has taken effect.
    user.hasSignInMethod ||= isOnAlready.includes(begun.code);
    return;
  }
  const { factor_id, secret } = begun;
  user.secret = secret;
  user.lastStep = 0;
  phone.secrets.add(secret);
  const code = nextCode(user);
  if (code === undefined) return;
  const confirm = (auth: App['auth']) => auth.secondFactor.confirmTotp({ factor_id, code });
  const answer = await attempt(user, app, 'confirmTotp', confirm, used);
  if (answer instanceof AuthError) return;
  user.hasSignInMethod = true;
  for (const each of answer.recovery_codes) phone.secrets.add(each);
}

async function addPasskey(user: SdkUser, app: App): Promise<void> {
  const create = (auth: App['auth']) => auth.passkeys.create({ current_password: user.password });
  const answer = await attempt(user, app, 'passkeys.create', create, unsure);
  if (!(answer instanceof AuthError)) user.hasSignInMethod = true;
}

/** Returns a code of the authenticator app that was not sent yet; undefined if the next one is not shown yet. */
function nextCode(user: SdkUser): string | undefined {
  const present = Math.floor(Date.now() / stepMs);
  const step = Math.max(present, user.lastStep + 1);
  if (step > present + 1 || user.secret === undefined) return;
  user.lastStep = step;
  return codeAt(user.secret, step * stepMs);
}

type Session = Awaited<ReturnType<App['auth']['logIn']>>;

/** Logs in by the user's sign-in method, or by the password and, if the account demands it, the second factor. */
async function openSession(user: SdkUser, app: App): Promise<Session | AuthError> {
  const { email, password, signInMethod, hasSignInMethod, secret, phone, figures, random } = user;
  if (signInMethod === 'passkey' && phone.authenticator.credentialIds.length > 0 && random() < 0.7) {
    const excuses = hasSignInMethod ? over : unsure;
    const opened = await attempt(user, app, 'passkeys.logIn', (auth) => auth.passkeys.logIn(), excuses);
    if (!(opened instanceof AuthError)) figures.byPasskey += 1;
    return opened;
  }
  const excuses = secret === undefined ? [] : demanded;
  const answer = await attempt(user, app, 'logIn', (auth) => auth.logIn({ email, password }), excuses);
  if (!(answer instanceof AuthError) || !demanded.includes(answer.code)) return answer;
  user.hasSignInMethod = true;
  const code = nextCode(user);
  if (code === undefined) return answer;
  const proof = { method: 'totp', code, trust_device: random() < 0.3 } as const;
  const confirmed = await attempt(user, app, 'secondFactor.confirm', (auth) => auth.secondFactor.confirm(proof), used);
  if (!(confirmed instanceof AuthError)) figures.bySecondFactor += 1;
  return confirmed;
}
