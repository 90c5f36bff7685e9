import type { RouteName } from '@auth-account/contracts';
import { completeDenyListOf } from '../gateway/gateway-fixture.ts';
import type { Answer } from '../http-client.ts';
import { internalServiceCredential } from '../verifier/internal-services.ts';
import { logIn, newEmail, newSession, password, registerAccount } from './accounts.ts';
import { type ApiDriver, bearer, requestTo } from './api-driver.ts';
import { createAuthenticator } from './authenticator.ts';
import {
  changeEmail,
  codeOf,
  makeResendDue,
  requestChange,
  requestDeletion,
  requestLoginCode,
  requestReset,
  requestVerification,
  stopTokenOf,
  undoTokenOf,
} from './codes.ts';
import { type GroupApi, insertInvite, joinByInvite } from './groups.ts';
import { addPasskey, appOrigin, passkeyLogin, requestPasskey } from './passkeys.ts';
import { demandLink, linkIdentity, newHome, newPerson, provePerson, signSecurityEventToken } from './providers.ts';
import { beginLogin, beginTotp, codeAt, guardedAccount, orderRemoval, requestRemoval } from './second-factor.ts';
import { challengeStepUp } from './step-up.ts';
import type { TestApi } from './test-api.ts';

/** A request that its operation answers with success. */
export interface GoodRequest {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of the path's parameters, by name. */
  readonly params?: Readonly<Record<string, string>>;
}

type RequestApi = GroupApi & Pick<TestApi, 'keyPrefix'>;

/** Makes requests by a caller of their own, with this body. */
const own = (body?: GoodRequest['body']) => async (on: GroupApi) => ({
  headers: bearer(await newSession(on)),
  ...(body && { body }),
});

/** Makes requests with a challenge that `ask` gets, and whose resend is due. */
const resend = (ask: (on: RequestApi) => Promise<string>) => async (on: RequestApi) => {
  const challenge_id = await ask(on);
  await makeResendDue(on, challenge_id);
  return { body: { challenge_id } };
};

/** Makes requests with a challenge that `ask` gets, and its code. */
const confirm =
  (ask: (on: RequestApi) => Promise<string>, more: () => object = () => ({})) =>
  async (on: RequestApi) => {
    const challenge_id = await ask(on);
    return { body: { challenge_id, code: await codeOf(on, challenge_id), ...more() } };
  };

const phone = () => ({ device_id: crypto.randomUUID(), device_name: 'Pixel 9', platform: 'android' });
const knownEmail = async (on: RequestApi) => (await registerAccount(on)).email;
const requestByEmail = async (on: RequestApi) => ({
  body: { email: await knownEmail(on), device_id: crypto.randomUUID() },
});
const askDeletion = async (on: RequestApi) => requestDeletion(on, await knownEmail(on));
const askReset = async (on: RequestApi) => requestReset(on, await knownEmail(on));
const askLoginCode = async (on: RequestApi) => requestLoginCode(on, await knownEmail(on));
const askVerification = async (on: RequestApi) => requestVerification(on, await newSession(on));
const askRemoval = async (on: RequestApi) => requestRemoval(on, (await guardedAccount(on)).email);
const askInvite = async (on: RequestApi) => insertInvite(on, (await registerAccount(on)).home_group_id);
const askLink = async (on: RequestApi): Promise<string> =>
  (await demandLink(on, newPerson({ email: await knownEmail(on) }))).link_challenge_id;

/** Makes requests by the owner of a group about another member. */
const ofMember =
  (place: 'body' | 'params') =>
  async (on: RequestApi): Promise<GoodRequest> => {
    const owner = await newSession(on);
    const { user_id } = await joinByInvite(on, await insertInvite(on, owner.home_group_id));
    return { [place]: { user_id }, headers: bearer(owner) };
  };

/**
 * Creates, by route, a request and what it needs, with an account of its own. A body has every field that its schema
 * allows, because the property test of bodies changes the fields one by one.
 */
export const goodRequests: Readonly<Record<RouteName, (on: RequestApi) => Promise<GoodRequest>>> = {
  registerAccount: async () => ({
    body: { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME', invite_token: null },
  }),
  findAccount: own(),
  changeAccount: own({ display_name: 'Anna', locale: 'ru' }),
  changePassword: own({ current_password: password, new_password: 'three wrong staples' }),
  scheduleDeletion: own({ current_password: password }),
  requestDeletion: requestByEmail,
  resendDeletion: resend(askDeletion),
  confirmDeletion: confirm(askDeletion),
  async restoreAccount(on) {
    const { email, device_id, access_token } = await newSession(on);
    await on.scheduleDeletion({ current_password: password }, bearer({ access_token }));
    return { body: { email, password, device_id } };
  },
  exportAccount: own({ current_password: password }),
  requestPasswordReset: requestByEmail,
  resendPasswordReset: resend(askReset),
  confirmPasswordReset: confirm(askReset, () => ({ new_password: 'three wrong staples' })),
  requestLoginCode: requestByEmail,
  resendLoginCode: resend(askLoginCode),
  logInByCode: confirm(askLoginCode, () => ({ ...phone(), trusted_device_token: 'x' })),
  requestEmailVerification: own(),
  resendEmailVerification: resend(askVerification),
  confirmEmailVerification: confirm(askVerification),
  createStepUpChallenge: own({ purpose: 'export' }),
  async confirmStepUp(on) {
    const session = await newSession(on);
    const challenge_id = await challengeStepUp(on, session, 'session');
    return { headers: bearer(session), body: { challenge_id, method: 'password', password } };
  },
  requestEmailChange: (on) => own({ current_password: password, new_email: newEmail() })(on),
  async resendEmailChange(on) {
    const session = await newSession(on);
    return { headers: bearer(session), ...(await resend(() => requestChange(on, session, newEmail()))(on)) };
  },
  async confirmEmailChange(on) {
    const session = await newSession(on);
    return { headers: bearer(session), ...(await confirm(() => requestChange(on, session, newEmail()))(on)) };
  },
  async undoEmailChange(on) {
    const session = await newSession(on);
    await changeEmail(on, session, newEmail());
    return { body: { undo_token: await undoTokenOf(on, session.user_id) } };
  },
  findFactors: own(),
  createTotp: own({ current_password: password }),
  async confirmTotp(on) {
    const session = await newSession(on);
    const { factor_id, secret } = await beginTotp(on, session);
    return { headers: bearer(session), body: { factor_id, code: codeAt(secret) } };
  },
  async confirmSecondFactor(on) {
    const { email, secret } = await guardedAccount(on);
    const challenge_id = await beginLogin(on, email);
    return { body: { challenge_id, method: 'totp', code: codeAt(secret, Date.now(), 1), trust_device: true } };
  },
  async deleteTrustedDevice(on) {
    const session = await newSession(on);
    return { params: { device_id: session.device_id }, headers: bearer(session) };
  },
  requestSecondFactorRemoval: async (on) => ({
    body: { email: (await guardedAccount(on)).email, device_id: crypto.randomUUID() },
  }),
  resendSecondFactorRemoval: resend(askRemoval),
  confirmSecondFactorRemoval: confirm(askRemoval),
  async stopSecondFactorRemoval(on) {
    const { email, user_id } = await guardedAccount(on);
    await orderRemoval(on, email);
    return { body: { stop_token: await stopTokenOf(on, user_id) } };
  },
  deleteSecondFactorRemoval: own(),
  deleteTotp: own({ current_password: password }),
  createRecoveryCodes: own({ current_password: password }),
  async logIn(on) {
    const { email, device_id } = await newSession(on);
    return { body: { email, password, device_id, device_name: 'Pixel 9', platform: 'android' } };
  },
  refreshTokens: async (on) => ({ body: { refresh_token: (await newSession(on)).refresh_token } }),
  async logOut(on) {
    const session = await newSession(on);
    return { body: { refresh_token: session.refresh_token }, headers: bearer(session) };
  },
  logOutAll: own({ except_current: true }),
  listSessions: own(),
  async revokeSession(on) {
    const session = await newSession(on);
    const { session_id } = await logIn(on, session.email);
    return { params: { session_id }, headers: bearer(session) };
  },
  findCurrentGroup: own(),
  renameGroup: own({ name: 'Garden Street' }),
  handOverGroup: ofMember('body'),
  acceptInvite: async (on) => ({
    ...(await own({ leave_current_group: true })(on)),
    params: { token: await askInvite(on) },
  }),
  leaveGroup: async (on) => ({ headers: bearer(await joinByInvite(on, await askInvite(on))) }),
  removeMember: ofMember('params'),
  createInvite: own({ expires_in: 3_600, max_uses: null }),
  listInvites: own(),
  findInvite: async (on) => ({ params: { token: await askInvite(on) } }),
  async revokeInvite(on) {
    const owner = await newSession(on);
    return { params: { token: await insertInvite(on, owner.home_group_id) }, headers: bearer(owner) };
  },
  async readRevocations(on) {
    await completeDenyListOf(on.keyPrefix);
    const headers = bearer(internalServiceCredential());
    return { headers, body: { nonce: 'Zq3v1p8mXo2c7Jt5kW9rYA', cursor: '0.none' } };
  },
  listPublicKeys: async () => ({}),
  getServerMetadata: async () => ({}),
  getOpenidConfiguration: async () => ({}),
  createPasskeyChallenge: own({ current_password: password }),
  async createPasskey(on) {
    const session = await newSession(on);
    const { challenge_id, options } = await requestPasskey(on, session);
    const credential = createAuthenticator({ origin: appOrigin }).create(options);
    return { headers: bearer(session), body: { challenge_id, credential, name: 'Pixel 9' } };
  },
  listPasskeys: own(),
  async renamePasskey(on) {
    const session = await newSession(on);
    const { passkey_id } = await addPasskey(on, session);
    return { headers: bearer(session), params: { passkey_id }, body: { name: 'YubiKey' } };
  },
  async deletePasskey(on) {
    const session = await newSession(on);
    const { passkey_id } = await addPasskey(on, session);
    return { headers: bearer(session), params: { passkey_id }, body: { current_password: password } };
  },
  createPasskeyLoginChallenge: async () => ({}),
  async logInByPasskey(on) {
    const { authenticator } = await addPasskey(on, await newSession(on));
    return { body: { ...(await passkeyLogin(on, authenticator)), ...phone() } };
  },
  createFederatedChallenge: async () => ({}),
  requestLinkCode: async (on) => ({ body: { link_challenge_id: await askLink(on) } }),
  linkByProof: async (on) => ({ body: { link_challenge_id: await askLink(on), password, ...phone() } }),
  async logInByProvider(on) {
    const body = { ...(await provePerson(on, newPerson())), ...newHome, ...phone(), display_name: 'Anna' };
    return { params: { provider: 'office' }, body: { ...body, invite_token: null } };
  },
  listIdentities: own(),
  async linkIdentity(on) {
    const body = { ...(await provePerson(on, newPerson())), current_password: password };
    return { ...(await own(body)(on)), params: { identity: 'office' } };
  },
  async unlinkIdentity(on) {
    const session = await newSession(on);
    const { identity_id } = (await linkIdentity(on, session, newPerson())).json.data;
    return { headers: bearer(session), params: { identity: identity_id }, body: { current_password: password } };
  },
  receiveProviderNotice: async () => ({
    params: { provider: 'office' },
    body: { payload: await signSecurityEventToken({ type: 'consent-revoked', sub: crypto.randomUUID() }) },
  }),
  getAppleApps: async () => ({}),
  getAssetLinks: async () => ({}),
  getRelatedOrigins: async () => ({}),
};

/** Returns the request of a route in the form that `TestApi.send` takes. */
export function requestFor(name: RouteName, { body, headers = {}, params = {} }: GoodRequest) {
  return { ...requestTo(name, params), headers, body };
}

/** Sends the request to its route. */
export function sendTo(name: RouteName, on: ApiDriver, request: GoodRequest): Promise<Answer> {
  return on.send(requestFor(name, request));
}
