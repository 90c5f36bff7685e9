import type { Body } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import { addIdentity } from './fake-federated.ts';
import {
  createOpenSession,
  type FakeOperation,
  type FakeOperationsDeps,
  FakeRefusal,
  newChallenge,
  openedBefore,
  tokensOf,
} from './fake-logins.ts';
import { type FakePasskey, type FakeRecords, type FakeSession, newAccessToken } from './fake-records.ts';
import {
  assertCode,
  assertNotLast,
  assertProof,
  assertReauthenticated,
  challengeEnd,
  endTrust,
  type FakeProof,
  passkeysBy,
  signInMethodsOf,
  trust,
  trustedDevices,
} from './fake-sign-in-methods.ts';

type Operations = Partial<Record<OperationName, FakeOperation>>;

/** Creates the second step of a login. */
function secondStepOf(deps: FakeOperationsDeps): Operations {
  const { records, pushUrl } = deps;
  const openSession = createOpenSession(deps);
  return {
    confirmSecondFactor({ body }) {
      const { challenge_id, trust_device, ...proof } = body as Body<'confirmSecondFactor'>;
      const login = records.secondFactor.logins.get(challenge_id);
      if (!login) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      const { openedBy: _, challengeUses = [], ...first } = login;
      const challengeUse = { id: challenge_id, proof: JSON.stringify(proof) };
      const before = openedBefore(records, challengeUse);
      if (!before) {
        for (const each of challengeUses) openedBefore(records, each);
        assertProof(records, login.user_id, proof);
        if (login.person) addIdentity(records, login.user_id, login.person);
      }
      const data = before
        ? tokensOf(records, pushUrl, before)
        : openSession({ ...first, challengeUses: [challengeUse, ...challengeUses] });
      return { ...data, ...(trust_device && { trusted_device_token: trust(records, login) }) };
    },
  };
}

/** Creates the operations on the second factor. */
export function factorsOf(deps: FakeOperationsDeps): Operations {
  const { records, endSession } = deps;
  const { secondFactor, sessions, newId, now } = records;
  const timestamp = () => now().toISOString();

  /** Ends the user's other sessions and the trust in devices, as each change of the factor does. */
  function endOthers({ session_id, user_id }: FakeSession): number {
    const live = [...sessions.values()].filter((one) => one.user_id === user_id && !one.ended);
    const others = live.filter((one) => one.session_id !== session_id);
    for (const one of others) endSession(one, 'revoked');
    endTrust(records, user_id);
    return others.length;
  }

  return {
    ...secondStepOf(deps),
    findFactors({ session: { user_id } }) {
      const { confirmed_at = null, recovery_codes = [], removal = null } = secondFactor.of.get(user_id) ?? {};
      const passkeys = passkeysBy(records, user_id).length;
      const left = recovery_codes.length;
      return {
        totp: { confirmed_at },
        recovery_codes_left: left,
        passkeys,
        trusted_devices: trustedDevices(records, user_id),
        removal,
        timestamp: timestamp(),
      };
    },
    createTotp({ body, session, example }) {
      assertReauthenticated(records, session, body, 'totp');
      const { confirmed_at = null, recovery_codes = [] } = secondFactor.of.get(session.user_id) ?? {};
      const pending = newId();
      secondFactor.of.set(session.user_id, { confirmed_at, recovery_codes, pending });
      return { ...example, factor_id: pending, expires_at: challengeEnd(records), timestamp: timestamp() };
    },
    confirmTotp({ body, session, example }) {
      const { factor_id, code } = body as Body<'confirmTotp'>;
      if (secondFactor.of.get(session.user_id)?.pending !== factor_id) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      assertCode(records, code);
      const recovery_codes = newRecoveryCodes(records);
      secondFactor.of.set(session.user_id, { confirmed_at: timestamp(), recovery_codes });
      return { ...example, recovery_codes, sessions_ended: endOthers(session), timestamp: timestamp() };
    },
    deleteTotp({ body, session, example }) {
      assertReauthenticated(records, session, body, 'totp');
      const sessions_ended = secondFactor.of.delete(session.user_id) ? endOthers(session) : 0;
      return { ...example, sessions_ended, timestamp: timestamp() };
    },
    createRecoveryCodes({ body, session }) {
      assertReauthenticated(records, session, body, 'recovery_codes');
      const factor = secondFactor.of.get(session.user_id);
      if (!factor) return { recovery_codes: [], timestamp: timestamp() };
      factor.recovery_codes = newRecoveryCodes(records);
      return { recovery_codes: factor.recovery_codes, timestamp: timestamp() };
    },
    deleteTrustedDevice({ params: { device_id = '' }, session: { user_id }, example }) {
      endTrust(records, user_id, device_id);
      return { ...example, device_id, timestamp: timestamp() };
    },
  };
}

/** Returns ten codes in the form of the contract. */
function newRecoveryCodes({ newId }: FakeRecords): readonly string[] {
  const digits = () => newId().replace(/-/g, '').toUpperCase().replace(/[01]/g, 'X').replace(/[89]/g, 'Y').slice(0, 25);
  return Array.from({ length: 10 }, () => digits().replace(/.{5}(?!$)/g, '$&-'));
}

/** Creates the step-ups. */
export function stepUpsOf({ records }: FakeOperationsDeps): Operations {
  const { stepUps, newId, now } = records;
  const timestamp = () => now().toISOString();
  return {
    createStepUpChallenge({ body, session: { session_id, user_id } }) {
      const { purpose } = body as Body<'createStepUpChallenge'>;
      const challenge_id = newId();
      stepUps.set(challenge_id, { session_id, purpose, isProved: false });
      const signInMethods = signInMethodsOf(records, user_id, challenge_id);
      return { challenge_id, ...signInMethods, expires_at: challengeEnd(records), timestamp: timestamp() };
    },
    confirmStepUp({ body, session }) {
      const { challenge_id, ...proof } = body as FakeProof & { readonly challenge_id: string };
      const stepUp = stepUps.get(challenge_id);
      if (stepUp?.session_id !== session.session_id) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      const text = JSON.stringify(proof);
      if (stepUp.answered?.proof === text) return stepUp.answered.data;
      if (stepUp.answered) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      const { methods } = signInMethodsOf(records, session.user_id, challenge_id);
      if (!methods.includes(proof.method))
        throw new FakeRefusal(403, 'ERR-STEP-UP-REQUIRED', { methods, max_age: 300 });
      assertProof(records, session.user_id, proof);
      const answer = (data: object) => {
        stepUp.answered = { proof: text, data };
        return data;
      };
      const access = { token_type: 'Bearer', expires_in: 600, timestamp: timestamp() };
      if (stepUp.purpose === 'session') return answer({ access_token: newAccessToken(records, session), ...access });
      const step_up_token = newId();
      stepUps.set(step_up_token, { ...stepUp, isProved: true });
      return answer({ step_up_token, expires_at: challengeEnd(records), timestamp: timestamp() });
    },
  };
}

/** Creates the operations with passkeys. */
export function passkeysOf(deps: FakeOperationsDeps): Operations {
  const { records, pushUrl } = deps;
  const { passkeys, challenges, newId, now } = records;
  const openSession = createOpenSession(deps);
  const timestamp = () => now().toISOString();
  const shown = ({ user_id: _, ...facts }: FakePasskey) => ({ ...facts, backed_up: true, last_used_at: null });

  /** Returns the facts by which a device drops its other passkeys. */
  function signalOf(user_id: string) {
    const accepted_credential_ids = passkeysBy(records, user_id).map(([id]) => id);
    return { rp_id: 'auth.test', user_handle: user_id, accepted_credential_ids, timestamp: timestamp() };
  }

  function own({ user_id }: FakeSession, passkeyId: string | undefined) {
    const found = passkeysBy(records, user_id).find(([, { passkey_id }]) => passkey_id === passkeyId);
    if (!found) throw new FakeRefusal(404, 'ERR-PASSKEY-NOT-FOUND');
    return found;
  }

  return {
    createPasskeyChallenge({ body, session, example }) {
      assertReauthenticated(records, session, body, 'passkeys');
      return { ...example, challenge_id: newChallenge(records), timestamp: timestamp() };
    },
    createPasskeyLoginChallenge: ({ example }) => ({ ...example, challenge_id: newChallenge(records) }),
    createPasskey({ body, session: { user_id } }) {
      const { challenge_id, credential, name = null } = body as Body<'createPasskey'>;
      if (!challenges.has(challenge_id)) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID');
      if (passkeys.has(credential.id)) throw new FakeRefusal(409, 'ERR-PASSKEY-EXISTS');
      const passkey = { user_id, passkey_id: newId(), name, created_at: timestamp() };
      passkeys.set(credential.id, passkey);
      endTrust(records, user_id);
      return { ...shown(passkey), timestamp: timestamp() };
    },
    listPasskeys({ session: { user_id } }) {
      const all = passkeysBy(records, user_id).map(([, passkey]) => shown(passkey));
      return { passkeys: all, ...signalOf(user_id) };
    },
    renamePasskey({ params, body, session }) {
      const [, passkey] = own(session, params.passkey_id);
      passkey.name = (body as Body<'renamePasskey'>).name;
      return { ...shown(passkey), timestamp: timestamp() };
    },
    deletePasskey({ params, body, session }) {
      assertReauthenticated(records, session, body, 'passkeys');
      const [credentialId] = own(session, params.passkey_id);
      assertNotLast(records, session.user_id);
      passkeys.delete(credentialId);
      endTrust(records, session.user_id);
      return signalOf(session.user_id);
    },
    logInByPasskey({ body, key }) {
      const { credential, challenge_id: id, ...device } = body as Body<'logInByPasskey'>;
      if (!challenges.has(id)) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID');
      const challengeUse = { id, proof: JSON.stringify([credential, device.device_id, key]) };
      const before = openedBefore(records, challengeUse);
      if (before) return tokensOf(records, pushUrl, before);
      const user_id = passkeys.get(credential.id)?.user_id;
      if (!user_id) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID', { unknown_credential: true });
      return openSession({ user_id, device, challengeUses: [challengeUse], ...(key && { key }) });
    },
  };
}
