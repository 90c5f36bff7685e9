import type { CodePurpose } from '@auth-account/contracts/events';
import type { ResendCodeRequest } from '@auth-account/contracts/http/challenges';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Operations } from '../http/operations.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { createChangeAccount } from '../usecases/account/change-account.ts';
import { createExportAccount } from '../usecases/account/export-account.ts';
import { createFindAccount } from '../usecases/account/find-account.ts';
import { createRestoreAccount } from '../usecases/account/restore-account.ts';
import { createConfirmDeletion, createScheduleDeletion } from '../usecases/account/schedule-deletion.ts';
import { createRequestCodeForEmail } from '../usecases/codes/request-code-for-email.ts';
import { createChangeEmail } from '../usecases/credentials/change-email.ts';
import { createChangePassword } from '../usecases/credentials/change-password.ts';
import { createRequestEmailChange } from '../usecases/credentials/request-email-change.ts';
import { createRequestEmailVerification } from '../usecases/credentials/request-email-verification.ts';
import { createResetPassword } from '../usecases/credentials/reset-password.ts';
import { createUndoEmailChange } from '../usecases/credentials/undo-email-change.ts';
import { createVerifyEmail } from '../usecases/credentials/verify-email.ts';
import { createListIdentities } from '../usecases/federated/identity-lists.ts';
import { createLinkByProof } from '../usecases/federated/link-by-proof.ts';
import { createLinkIdentity } from '../usecases/federated/link-identity.ts';
import { createLogInByProvider } from '../usecases/federated/log-in-by-provider.ts';
import { createIssueFederatedChallenge } from '../usecases/federated/provider-challenge.ts';
import { createReceiveSecurityEvents } from '../usecases/federated/receive-security-events.ts';
import { createRequestLinkCode } from '../usecases/federated/request-link-code.ts';
import { createUnlinkIdentity } from '../usecases/federated/unlink-identity.ts';
import { createHandOverGroup } from '../usecases/groups/hand-over-group.ts';
import { createRemoveMember } from '../usecases/groups/remove-member.ts';
import { createRenameGroup } from '../usecases/groups/rename-group.ts';
import { createAcceptInvite } from '../usecases/invites/accept-invite.ts';
import { createIssueInvite } from '../usecases/invites/create-invite.ts';
import { createFindInvite } from '../usecases/invites/find-invite.ts';
import { createListInvites } from '../usecases/invites/list-invites.ts';
import { createRevokeInvite } from '../usecases/invites/revoke-invite.ts';
import { createLogIn } from '../usecases/login/log-in.ts';
import { createLogInByCode } from '../usecases/login/log-in-by-code.ts';
import { createAddPasskey, createIssuePasskeyChallenge } from '../usecases/passkeys/create-passkey.ts';
import { createDeletePasskey } from '../usecases/passkeys/delete-passkey.ts';
import { createIssuePasskeyLoginChallenge, createLogInByPasskey } from '../usecases/passkeys/log-in-by-passkey.ts';
import { createListPasskeys, createRenamePasskey } from '../usecases/passkeys/passkey-lists.ts';
import { createRegister } from '../usecases/registration/register.ts';
import { createConfirmSecondFactor } from '../usecases/second-factor/confirm-second-factor.ts';
import { createConfirmTotp } from '../usecases/second-factor/confirm-totp.ts';
import { createIssueRecoveryCodes } from '../usecases/second-factor/create-recovery-codes.ts';
import { createEnrolTotp } from '../usecases/second-factor/create-totp.ts';
import { createDeleteTotp } from '../usecases/second-factor/delete-totp.ts';
import { createDeleteTrustedDevice } from '../usecases/second-factor/delete-trusted-device.ts';
import { createFindFactors } from '../usecases/second-factor/find-factors.ts';
import { createOrderFactorRemoval } from '../usecases/second-factor/order-factor-removal.ts';
import {
  createStopFactorRemoval,
  createStopFactorRemovalByToken,
} from '../usecases/second-factor/stop-factor-removal.ts';
import { createListSessions } from '../usecases/sessions/list-sessions.ts';
import { createLogOut } from '../usecases/sessions/log-out.ts';
import { createLogOutAll } from '../usecases/sessions/log-out-all.ts';
import { createReadRevocations } from '../usecases/sessions/read-revocations.ts';
import { createRefresh } from '../usecases/sessions/refresh.ts';
import { createRevokeSession } from '../usecases/sessions/revoke-session.ts';
import { createConfirmStepUp } from '../usecases/step-up/confirm-step-up.ts';
import { createIssueStepUpChallenge } from '../usecases/step-up/create-step-up-challenge.ts';
import { createLimitWrites } from './guards.ts';
import type { Registry } from './registry.ts';

/** Returns the use case of each route. */
export function composeOperations(registry: Registry): Operations {
  return {
    ...accountOperations(registry),
    ...sessionOperations(registry),
    ...factorOperations(registry),
    ...providerOperations(registry),
    ...groupOperations(registry),
  };
}

function accountOperations(registry: Registry) {
  const limited = createLimitWrites(registry.limits);
  return {
    registerAccount: createRegister(registry),
    findAccount: createFindAccount(registry),
    changeAccount: limited(createChangeAccount(registry)),
    exportAccount: createExportAccount(registry),
    changePassword: createChangePassword(registry),

    scheduleDeletion: createScheduleDeletion(registry),
    requestDeletion: createRequestCodeForEmail(registry, 'account_deletion'),
    resendDeletion: createResend(registry, 'account_deletion'),
    confirmDeletion: createConfirmDeletion(registry),
    restoreAccount: createRestoreAccount(registry),

    requestPasswordReset: createRequestCodeForEmail(registry, 'password_reset'),
    resendPasswordReset: createResend(registry, 'password_reset'),
    confirmPasswordReset: createResetPassword(registry),

    requestEmailVerification: createRequestEmailVerification(registry),
    resendEmailVerification: createResend(registry, 'email_verification'),
    confirmEmailVerification: createVerifyEmail(registry),

    requestEmailChange: createRequestEmailChange(registry),
    resendEmailChange: (body: ResendCodeRequest, { user_id }: VerifiedAccessToken, origin: RequestOrigin) =>
      registry.resendCode('email_change', body, origin, user_id),
    confirmEmailChange: createChangeEmail(registry),
    undoEmailChange: createUndoEmailChange(registry),
  };
}

function sessionOperations(registry: Registry) {
  const limited = createLimitWrites(registry.limits);
  return {
    logIn: createLogIn(registry),
    refreshTokens: createRefresh(registry),
    logOut: createLogOut(registry),
    logOutAll: limited(createLogOutAll(registry)),
    listSessions: createListSessions(registry),
    revokeSession: limited(createRevokeSession(registry)),

    requestLoginCode: createRequestCodeForEmail(registry, 'login'),
    resendLoginCode: createResend(registry, 'login'),
    logInByCode: createLogInByCode(registry),

    createStepUpChallenge: createIssueStepUpChallenge(registry),
    confirmStepUp: createConfirmStepUp(registry),
  };
}

function factorOperations(registry: Registry) {
  const limited = createLimitWrites(registry.limits);
  return {
    findFactors: createFindFactors(registry),
    createTotp: createEnrolTotp(registry),
    confirmTotp: createConfirmTotp(registry),
    deleteTotp: createDeleteTotp(registry),
    createRecoveryCodes: createIssueRecoveryCodes(registry),
    confirmSecondFactor: createConfirmSecondFactor(registry),
    deleteTrustedDevice: limited(createDeleteTrustedDevice(registry)),

    requestSecondFactorRemoval: createRequestCodeForEmail(registry, 'second_factor_removal', hasSecondFactor),
    resendSecondFactorRemoval: createResend(registry, 'second_factor_removal'),
    confirmSecondFactorRemoval: createOrderFactorRemoval(registry),
    stopSecondFactorRemoval: createStopFactorRemovalByToken(registry),
    deleteSecondFactorRemoval: limited(createStopFactorRemoval(registry)),

    createPasskeyChallenge: createIssuePasskeyChallenge(registry),
    createPasskey: createAddPasskey(registry),
    listPasskeys: createListPasskeys(registry),
    renamePasskey: limited(createRenamePasskey(registry)),
    deletePasskey: createDeletePasskey(registry),
    createPasskeyLoginChallenge: createIssuePasskeyLoginChallenge(registry),
    logInByPasskey: createLogInByPasskey(registry),
  };
}

function providerOperations(registry: Registry) {
  return {
    createFederatedChallenge: createIssueFederatedChallenge(registry),
    logInByProvider: createLogInByProvider(registry),
    requestLinkCode: createRequestLinkCode(registry),
    linkByProof: createLinkByProof(registry),
    listIdentities: createListIdentities(registry),
    linkIdentity: createLinkIdentity(registry),
    unlinkIdentity: createUnlinkIdentity(registry),
    receiveProviderNotice: createReceiveSecurityEvents(registry),
  };
}

function groupOperations(registry: Registry) {
  const limited = createLimitWrites(registry.limits);
  return {
    findCurrentGroup: registry.findCurrentGroup,
    renameGroup: limited(createRenameGroup(registry)),
    handOverGroup: limited(createHandOverGroup(registry)),
    leaveGroup: registry.leaveGroup,
    removeMember: limited(createRemoveMember(registry)),

    createInvite: createIssueInvite(registry),
    listInvites: createListInvites(registry),
    findInvite: createFindInvite(registry),
    revokeInvite: createRevokeInvite(registry),
    acceptInvite: createAcceptInvite(registry),

    readRevocations: createReadRevocations(registry),
  };
}

function createResend({ resendCode }: Registry, purpose: CodePurpose) {
  return (body: ResendCodeRequest, origin: RequestOrigin) => resendCode(purpose, body, origin);
}
