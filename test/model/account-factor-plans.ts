import { createAuthenticator } from '../support/api/authenticator.ts';
import { appOrigin, passkeyLogin } from '../support/api/passkeys.ts';
import { codeAt } from '../support/api/second-factor.ts';
import { type FactorOperation, recoveryCode } from './account-factors.ts';
import {
  type Choice,
  callerOf,
  endedBy,
  inGroup,
  type Plan,
  type Purpose,
  pick,
  purposes,
  reauthenticationOf,
} from './account-sessions.ts';
import { outcomeOf } from './account-settle.ts';
import { accountOf, nextName, type World } from './account-world.ts';

/** Wrong factors that a course may send without reaching the limit, together with those that a race makes wrong. */
const maxWrong = 2;

/** Returns a recovery code, or, if `isOld`, one that was used; undefined if there is none. */
function recoveryCodeFor(world: World, { isOld, which, device }: Choice): string | undefined {
  const left = accountOf(world).factor?.codes ?? [];
  const used = [...world.recoveryCodes.keys()].filter((name) => !left.includes(name));
  const isWrong = isOld && used.length > 0 && world.wrongFactors < maxWrong;
  // Different devices take different codes.
  return isWrong ? used[which % used.length] : left[device % Math.max(1, left.length)];
}

function countWrong(world: World, outcome: string): string {
  if (outcome === '403 ERR-SECOND-FACTOR-INVALID') world.wrongFactors += 1;
  return outcome;
}

const planBeginApp: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'totp');
  if (reauthentication === undefined) return;
  const app = nextName(world, 'app');
  const send = async () => {
    const answer = await world.fixture.api.createTotp(reauthentication.body, reauthentication.headers);
    if (answer.status === 201) world.apps.set(app, answer.json.data);
    return reauthentication.counted(answer);
  };
  return { operation: { kind: 'begin an app', app, ...reauthentication.fields }, send };
};

const planConfirmApp: Plan = (world, { device, isOld, which }) => {
  const { pending } = accountOf(world);
  const known = [...world.apps.keys()];
  const app = (isOld ? known[which % known.length] : undefined) ?? pending;
  const enrolled = world.apps.get(app ?? '');
  if (app === undefined || enrolled === undefined) return;
  const { caller, headers } = callerOf(world, device);
  const { factor_id, secret } = enrolled;
  const send = async () => {
    const body = { factor_id, code: codeAt(secret) };
    const answer = await world.fixture.api.confirmTotp(body, headers);
    const codes: string[] = answer.json.data?.recovery_codes ?? [];
    for (const [index, text] of codes.entries()) world.recoveryCodes.set(recoveryCode(app, index), text);
    return endedBy(answer);
  };
  return { operation: { kind: 'confirm the app', app, caller }, send };
};

const planSwitchOff: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'totp');
  if (reauthentication === undefined) return;
  const send = async () => {
    const answer = await world.fixture.api.deleteTotp(reauthentication.body, reauthentication.headers);
    return endedBy(answer, reauthentication.counted(answer));
  };
  return { operation: { kind: 'switch the factor off', ...reauthentication.fields }, send };
};

const planComplete: Plan = (world, choice) => {
  const { device, isOld, which } = choice;
  const ofDevice = [...world.challenges].filter(([, each]) => each.device === device);
  const live = ofDevice.filter(([name]) => accountOf(world).challenges[name] !== undefined);
  const [challenge, held] = (isOld ? ofDevice : live).at(-1) ?? [];
  const code = recoveryCodeFor(world, { ...choice, isOld: isOld && live.length === ofDevice.length });
  if (challenge === undefined || held === undefined || code === undefined) return;
  const session = nextName(world, 'session');
  const isTrusted = which % 2 === 1;
  const body = { challenge_id: held.id, method: 'recovery_code', code: world.recoveryCodes.get(code) };
  const send = async () => {
    const answer = await world.fixture.api.confirmSecondFactor({ ...body, trust_device: isTrusted });
    if (answer.status === 200) {
      const { trusted_device_token, ...tokens } = answer.json.data;
      world.sessions.set(session, { device, tokens, streams: [] });
      if (isTrusted) world.trustTokens.set(session, trusted_device_token);
    }
    return inGroup(answer, countWrong(world, outcomeOf(answer)));
  };
  return { operation: { kind: 'complete the login', session, device, challenge, code, isTrusted }, send };
};

const planStepUp: Plan = (world, choice) => {
  const code = recoveryCodeFor(world, choice);
  if (code === undefined || accountOf(world).factor === undefined) return;
  const purpose = purposes[choice.which % purposes.length] as Purpose;
  const { caller, headers } = callerOf(world, choice.device);
  const token = nextName(world, `token for ${purpose}`);
  const send = async () => {
    const { api } = world.fixture;
    const asked = await api.createStepUpChallenge({ purpose }, headers);
    if (asked.status !== 200) return outcomeOf(asked);
    const { challenge_id } = asked.json.data;
    const proof = { challenge_id, method: 'recovery_code', code: world.recoveryCodes.get(code) };
    const answer = await api.confirmStepUp(proof, headers);
    if (answer.status === 200) world.stepUpTokens.set(token, { purpose, text: answer.json.data.step_up_token });
    return countWrong(world, outcomeOf(answer));
  };
  return { operation: { kind: 'step up', caller, code, token }, send };
};

/** Limit for the passkeys that a course adds, below the api's own for a day. */
const maxPasskeys = 5;

const planAddPasskey: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'passkeys');
  if (reauthentication === undefined || world.passkeysAsked >= maxPasskeys) return;
  world.passkeysAsked += 1;
  const passkey = nextName(world, 'passkey');
  const send = async () => {
    const { api } = world.fixture;
    const asked = await api.createPasskeyChallenge(reauthentication.body, reauthentication.headers);
    if (asked.status !== 200) return reauthentication.counted(asked);
    const { challenge_id, options } = asked.json.data;
    const authenticator = createAuthenticator({ origin: appOrigin });
    const body = { challenge_id, credential: authenticator.create(options) };
    const answer = await api.createPasskey(body, reauthentication.headers);
    if (answer.status === 201) world.passkeys.set(passkey, { authenticator, id: answer.json.data.passkey_id });
    return outcomeOf(answer);
  };
  return { operation: { kind: 'add a passkey', passkey, ...reauthentication.fields }, send };
};

/** Returns one of the account's passkeys, or, if `isOld`, one that was removed. */
function passkeyFor(world: World, choice: Choice): string | undefined {
  const present = Object.keys(accountOf(world).passkeys);
  const all = [...world.passkeys.keys()];
  return all.length === 0 ? undefined : pick(all, present[choice.which % Math.max(1, present.length)], choice);
}

const planRemovePasskey: Plan = (world, choice) => {
  const [reauthentication, passkey] = [reauthenticationOf(world, choice, 'passkeys'), passkeyFor(world, choice)];
  if (reauthentication === undefined || passkey === undefined) return;
  const passkey_id = String(world.passkeys.get(passkey)?.id);
  const { headers, body } = reauthentication;
  const send = async () =>
    reauthentication.counted(await world.fixture.api.deletePasskey({ passkey_id, ...body }, headers));
  return { operation: { kind: 'remove a passkey', passkey, ...reauthentication.fields }, send };
};

const planLogInByPasskey: Plan = (world, choice) => {
  const passkey = passkeyFor(world, choice);
  const held = world.passkeys.get(passkey ?? '');
  if (passkey === undefined || held === undefined) return;
  const { device } = choice;
  const session = nextName(world, 'session');
  const send = async () => {
    const { api } = world.fixture;
    const body = { ...(await passkeyLogin(api, held.authenticator)), device_id: world.deviceIds[device] };
    const answer = await api.logInByPasskey(body);
    if (answer.status === 200) world.sessions.set(session, { device, tokens: answer.json.data, streams: [] });
    return inGroup(answer);
  };
  return { operation: { kind: 'log in by passkey', session, device, passkey }, send };
};

/** Operations on the second factor and on passkeys. */
export const factorPlans = {
  'begin an app': planBeginApp,
  'confirm the app': planConfirmApp,
  'switch the factor off': planSwitchOff,
  'complete the login': planComplete,
  'step up': planStepUp,
  'add a passkey': planAddPasskey,
  'remove a passkey': planRemovePasskey,
  'log in by passkey': planLogInByPasskey,
} satisfies Record<FactorOperation['kind'], Plan>;
