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

const ownHeaders = async (on: GroupApi) => ({ headers: bearer(await newSession(on)) });

/**
 * Creates, by route, a request and what it needs, with an account of its own. A body has every field that its schema
 * allows, because the property test of bodies changes the fields one by one.
 */
export const goodRequests: Readonly<Record<RouteName, (on: RequestApi) => Promise<GoodRequest>>> = {
  registerAccount: async () => ({
    body: { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME', invite_token: null },
  }),
  findAccount: ownHeaders,
  changeAccount: async (on) => ({ ...(await ownHeaders(on)), body: { display_name: 'Anna', locale: 'ru' } }),
  changePassword: async (on) => ({
    ...(await ownHeaders(on)),
    body: { current_password: password, new_password: 'three wrong staples' },
  }),
  scheduleDeletion: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
  requestDeletion: async (on) => ({
    body: { email: (await registerAccount(on)).email, device_id: crypto.randomUUID() },
  }),
  async resendDeletion(on) {
    const challenge_id = await requestDeletion(on, (await registerAccount(on)).email);
    await makeResendDue(on, challenge_id);
    return { body: { challenge_id } };
  },
  async confirmDeletion(on) {
    const challenge_id = await requestDeletion(on, (await registerAccount(on)).email);
    return { body: { challenge_id, code: await codeOf(on, challenge_id) } };
  },
  async restoreAccount(on) {
    const { email, device_id, access_token } = await newSession(on);
    await on.scheduleDeletion({ current_password: password }, bearer({ access_token }));
    return { body: { email, password, device_id } };
  },
  exportAccount: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
  requestPasswordReset: async (on) => ({
    body: { email: (await registerAccount(on)).email, device_id: crypto.randomUUID() },
  }),
  async resendPasswordReset(on) {
    const challenge_id = await requestReset(on, (await registerAccount(on)).email);
    await makeResendDue(on, challenge_id);
    return { body: { challenge_id } };
  },
  async confirmPasswordReset(on) {
    const challenge_id = await requestReset(on, (await registerAccount(on)).email);
    return { body: { challenge_id, code: await codeOf(on, challenge_id), new_password: 'three wrong staples' } };
  },
  requestLoginCode: async (on) => ({
    body: { email: (await registerAccount(on)).email, device_id: crypto.randomUUID() },
  }),
  async resendLoginCode(on) {
    const challenge_id = await requestLoginCode(on, (await registerAccount(on)).email);
    await makeResendDue(on, challenge_id);
    return { body: { challenge_id } };
  },
  async logInByCode(on) {
    const challenge_id = await requestLoginCode(on, (await registerAccount(on)).email);
    const device = { device_id: crypto.randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const code = await codeOf(on, challenge_id);
    return { body: { challenge_id, code, ...device, trusted_device_token: 'x' } };
  },
  requestEmailVerification: ownHeaders,
  async resendEmailVerification(on) {
    const challenge_id = await requestVerification(on, await newSession(on));
    await makeResendDue(on, challenge_id);
    return { body: { challenge_id } };
  },
  async confirmEmailVerification(on) {
    const challenge_id = await requestVerification(on, await newSession(on));
    return { body: { challenge_id, code: await codeOf(on, challenge_id) } };
  },
  createStepUpChallenge: async (on) => ({ ...(await ownHeaders(on)), body: { purpose: 'export' } }),
  async confirmStepUp(on) {
    const session = await newSession(on);
    const challenge_id = await challengeStepUp(on, session, 'session');
    return { headers: bearer(session), body: { challenge_id, method: 'password', password } };
  },
  requestEmailChange: async (on) => ({
    ...(await ownHeaders(on)),
    body: { current_password: password, new_email: newEmail() },
  }),
  async resendEmailChange(on) {
    const session = await newSession(on);
    const challenge_id = await requestChange(on, session, newEmail());
    await makeResendDue(on, challenge_id);
    return { headers: bearer(session), body: { challenge_id } };
  },
  async confirmEmailChange(on) {
    const session = await newSession(on);
    const challenge_id = await requestChange(on, session, newEmail());
    return { headers: bearer(session), body: { challenge_id, code: await codeOf(on, challenge_id) } };
  },
  async undoEmailChange(on) {
    const session = await newSession(on);
    await changeEmail(on, session, newEmail());
    return { body: { undo_token: await undoTokenOf(on, session.user_id) } };
  },
  findFactors: ownHeaders,
  createTotp: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
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
  async resendSecondFactorRemoval(on) {
    const challenge_id = await requestRemoval(on, (await guardedAccount(on)).email);
    await makeResendDue(on, challenge_id);
    return { body: { challenge_id } };
  },
  async confirmSecondFactorRemoval(on) {
    const challenge_id = await requestRemoval(on, (await guardedAccount(on)).email);
    return { body: { challenge_id, code: await codeOf(on, challenge_id) } };
  },
  async stopSecondFactorRemoval(on) {
    const { email, user_id } = await guardedAccount(on);
    await orderRemoval(on, email);
    return { body: { stop_token: await stopTokenOf(on, user_id) } };
  },
  deleteSecondFactorRemoval: ownHeaders,
  deleteTotp: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
  createRecoveryCodes: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
  async logIn(on) {
    const { email, device_id } = await newSession(on);
    return { body: { email, password, device_id, device_name: 'Pixel 9', platform: 'android' } };
  },
  refreshTokens: async (on) => ({ body: { refresh_token: (await newSession(on)).refresh_token } }),
  async logOut(on) {
    const session = await newSession(on);
    return { body: { refresh_token: session.refresh_token }, headers: bearer(session) };
  },
  logOutAll: async (on) => ({ ...(await ownHeaders(on)), body: { except_current: true } }),
  listSessions: ownHeaders,
  async revokeSession(on) {
    const session = await newSession(on);
    const { session_id } = await logIn(on, session.email);
    return { params: { session_id }, headers: bearer(session) };
  },
  findCurrentGroup: ownHeaders,
  renameGroup: async (on) => ({ ...(await ownHeaders(on)), body: { name: 'Garden Street' } }),
  async handOverGroup(on) {
    const owner = await newSession(on);
    const { user_id } = await joinByInvite(on, await insertInvite(on, owner.home_group_id));
    return { body: { user_id }, headers: bearer(owner) };
  },
  async acceptInvite(on) {
    const { home_group_id } = await registerAccount(on);
    const token = await insertInvite(on, home_group_id);
    return { ...(await ownHeaders(on)), params: { token }, body: { leave_current_group: true } };
  },
  async leaveGroup(on) {
    const { home_group_id } = await registerAccount(on);
    return { headers: bearer(await joinByInvite(on, await insertInvite(on, home_group_id))) };
  },
  async removeMember(on) {
    const owner = await newSession(on);
    const { user_id } = await joinByInvite(on, await insertInvite(on, owner.home_group_id));
    return { params: { user_id }, headers: bearer(owner) };
  },
  createInvite: async (on) => ({ ...(await ownHeaders(on)), body: { expires_in: 3_600, max_uses: null } }),
  listInvites: ownHeaders,
  async findInvite(on) {
    const { home_group_id } = await registerAccount(on);
    return { params: { token: await insertInvite(on, home_group_id) } };
  },
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
  createPasskeyChallenge: async (on) => ({ ...(await ownHeaders(on)), body: { current_password: password } }),
  async createPasskey(on) {
    const session = await newSession(on);
    const { challenge_id, options } = await requestPasskey(on, session);
    const credential = createAuthenticator({ origin: appOrigin }).create(options);
    return { headers: bearer(session), body: { challenge_id, credential, name: 'Pixel 9' } };
  },
  listPasskeys: ownHeaders,
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
    const device = { device_id: crypto.randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    return { body: { ...(await passkeyLogin(on, authenticator)), ...device } };
  },
  createFederatedChallenge: async () => ({}),
  async requestLinkCode(on) {
    const { email } = await registerAccount(on);
    return { body: { link_challenge_id: (await demandLink(on, newPerson({ email }))).link_challenge_id } };
  },
  async linkByProof(on) {
    const { email } = await registerAccount(on);
    const { link_challenge_id } = await demandLink(on, newPerson({ email }));
    const device = { device_id: crypto.randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    return { body: { link_challenge_id, password, ...device } };
  },
  async logInByProvider(on) {
    const device = { device_id: crypto.randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const body = { ...(await provePerson(on, newPerson())), ...newHome, ...device, display_name: 'Anna' };
    return { params: { provider: 'office' }, body: { ...body, invite_token: null } };
  },
  listIdentities: ownHeaders,
  async linkIdentity(on) {
    const body = { ...(await provePerson(on, newPerson())), current_password: password };
    return { ...(await ownHeaders(on)), params: { identity: 'office' }, body };
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
