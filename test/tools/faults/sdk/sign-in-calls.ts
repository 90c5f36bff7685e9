import { AuthError } from '@auth-account/client';
import { codeAt } from '../../../support/api/second-factor.ts';
import type { App } from './phone.ts';
import { attempt, type SdkUser } from './sdk-user.ts';

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
export async function openSession(user: SdkUser, app: App): Promise<Session | AuthError> {
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
