import { newEmail } from '../support/api/accounts.ts';
import { authctl } from '../support/processes/authctl.ts';
import type { Operation } from './account-model.ts';
import {
  type Choice,
  callerOf,
  counted,
  endedBy,
  type Plan,
  passwordOf,
  pick,
  reauthenticationOf,
} from './account-sessions.ts';
import { outcomeOf } from './account-settle.ts';
import type { AccountModel } from './account-state.ts';
import { accountOf, nextName, type World } from './account-world.ts';

type Purpose = AccountModel['codes'][string]['purpose'];

const maxTries = 3;

/** Returns the newest open code of the purpose, or, if `isOld`, a code that is no longer open. */
export function codeFor(world: World, purpose: Purpose, { isOld, which }: Choice): string | undefined {
  const open = Object.entries(accountOf(world).codes).filter(([, code]) => code.purpose === purpose);
  const usable = open.map(([name]) => name).filter((name) => (world.codes.get(name)?.tries ?? 0) < maxTries);
  const dead = [...world.codes].filter(
    ([name, held]) => held.purpose === purpose && held.code !== undefined && !accountOf(world).codes[name],
  );
  return (isOld ? dead[which % dead.length]?.[0] : undefined) ?? usable.at(-1);
}

/** Operations that ask for a code. */
type Asking = 'requestPasswordReset' | 'requestDeletion' | 'requestSecondFactorRemoval' | 'requestEmailChange';

async function ask(world: World, name: string, purpose: Purpose, operation: Asking, body: object, headers = {}) {
  const answer = await world.fixture.api[operation](body, headers);
  const { challenge_id: challengeId } = answer.json.data ?? {};
  if (answer.status === 202) world.codes.set(name, { challengeId, purpose, code: undefined, tries: 0 });
  return counted(world, answer);
}

export const planAsk =
  (kind: 'ask for a reset' | 'ask for a deletion' | 'ask for a removal', purpose: Purpose, operation: Asking): Plan =>
  (world, choice) => {
    const [code, email] = [nextName(world, 'code'), pick(world.emails, accountOf(world).email, choice)];
    return { operation: { kind, code, email }, send: () => ask(world, code, purpose, operation, { email }) };
  };

const planAskForEmail: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'email_change');
  if (reauthentication === undefined) return;
  const [code, to] = [nextName(world, 'code'), newEmail()];
  const body = { ...reauthentication.body, new_email: to };
  const send = () => ask(world, code, 'email_change', 'requestEmailChange', body, reauthentication.headers);
  return { operation: { kind: 'ask for a change of address', code, to, ...reauthentication.fields }, send };
};

/** Returns the body that confirms a code, and counts its try. */
export function confirmation({ codes }: World, name: string) {
  const held = codes.get(name);
  if (held === undefined) throw new Error(`there is no ${name}`);
  held.tries += 1;
  return { challenge_id: held.challengeId, code: held.code };
}

const planReset: Plan = (world, choice) => {
  const code = codeFor(world, 'password_reset', choice);
  if (code === undefined) return;
  const to = newPassword(world);
  const send = async () => {
    const body = { ...confirmation(world, code), new_password: to };
    const answer = await world.fixture.api.confirmPasswordReset(body);
    if (answer.status === 200) world.passwords.push(to);
    return outcomeOf(answer);
  };
  return { operation: { kind: 'reset the password', code, to }, send };
};

const newPassword = (world: World) => nextName(world, 'three wrong staples');

const planChangePassword: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'password');
  if (reauthentication === undefined) return;
  const to = newPassword(world);
  const body = { ...reauthentication.body, new_password: to };
  const send = async () => {
    const answer = await world.fixture.api.changePassword(body, reauthentication.headers);
    if (answer.status === 200) world.passwords.push(to);
    return endedBy(answer, reauthentication.counted(answer));
  };
  return { operation: { kind: 'change the password', to, ...reauthentication.fields }, send };
};

const planChangeEmail: Plan = (world, choice) => {
  const code = codeFor(world, 'email_change', choice);
  if (code === undefined) return;
  const { caller, headers } = callerOf(world, choice.device);
  const change = nextName(world, 'change');
  const send = async () => {
    const body = confirmation(world, code);
    const answer = await world.fixture.api.confirmEmailChange(body, headers);
    if (answer.status === 200) world.emails.push(answer.json.data.email);
    return endedBy(answer);
  };
  return { operation: { kind: 'change the address', caller, code, change }, send };
};

const planUndo: Plan = (world, { which, isOld }) => {
  const open = accountOf(world).former.map(({ change }) => change);
  const known = isOld ? [...world.undoTokens.keys()] : open;
  const change = known[which % known.length];
  if (change === undefined) return;
  const send = async () => {
    const undo_token = world.undoTokens.get(change);
    const answer = await world.fixture.api.undoEmailChange({ undo_token });
    return outcomeOf(answer);
  };
  return { operation: { kind: 'undo a change of address', change }, send };
};

const planOrder: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'deletion');
  if (reauthentication === undefined) return;
  const { body, headers } = reauthentication;
  const send = async () => reauthentication.counted(await world.fixture.api.scheduleDeletion(body, headers));
  return { operation: { kind: 'order the deletion', ...reauthentication.fields }, send };
};

const planOrderByCode: Plan = (world, choice) => {
  const code = codeFor(world, 'account_deletion', choice);
  if (code === undefined) return;
  const send = async () => outcomeOf(await world.fixture.api.confirmDeletion(confirmation(world, code)));
  return { operation: { kind: 'order the deletion by code', code }, send };
};

const planRestore: Plan = (world, choice) => {
  const password = passwordOf(world, choice);
  if (password === undefined) return;
  const { email } = accountOf(world);
  const body = { email, password, device_id: world.deviceIds[choice.device] };
  const send = async () => counted(world, await world.fixture.api.restoreAccount(body));
  return { operation: { kind: 'restore', email, password }, send };
};

const planOperator =
  (kind: 'disable' | 'enable'): Plan =>
  (world) => {
    const send = async () => {
      const { env } = world.fixture;
      const { exitCode } = await authctl(['user', kind, world.userId, '--reason', 'model'], { env });
      return exitCode === 0 ? 'done' : 'refused';
    };
    return { operation: { kind }, send };
  };

/** Operations on the account's credentials, and on its end. */
export const changePlans = {
  'ask for a reset': planAsk('ask for a reset', 'password_reset', 'requestPasswordReset'),
  'ask for a deletion': planAsk('ask for a deletion', 'account_deletion', 'requestDeletion'),
  'ask for a change of address': planAskForEmail,
  'reset the password': planReset,
  'change the password': planChangePassword,
  'change the address': planChangeEmail,
  'undo a change of address': planUndo,
  'order the deletion': planOrder,
  'order the deletion by code': planOrderByCode,
  restore: planRestore,
  disable: planOperator('disable'),
  enable: planOperator('enable'),
} satisfies Partial<Record<Operation['kind'], Plan>>;
