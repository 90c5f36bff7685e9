import type { Operations } from '../http/operations.ts';
import type { UseCases } from './use-cases.ts';

/**
 * Maps each route to its use case, and to the part of the request that the use case gets. Ids in paths may be in upper
 * case.
 */
export function composeOperations(useCases: UseCases): Operations {
  return {
    registerAccount: ({ body, origin }) => useCases.register(body, origin),
    findAccount: ({ caller }) => useCases.findAccount(caller),
    changeAccount: ({ body, caller, origin }) => useCases.changeAccount(body, caller, origin),
    changePassword: ({ body, caller, origin }) => useCases.changePassword(body, caller, origin),
    scheduleDeletion: ({ body, caller, origin }) => useCases.scheduleDeletion(body, caller, origin),
    requestDeletion: ({ body, origin }) => useCases.requestDeletion(body, origin),
    resendDeletion: ({ body, origin }) => useCases.resendCode('account_deletion', body, origin),
    confirmDeletion: ({ body, origin }) => useCases.confirmDeletion(body, origin),
    restoreAccount: ({ body, origin }) => useCases.restoreAccount(body, origin),
    exportAccount: ({ body, caller, origin }) => useCases.exportAccount(body, caller, origin),
    requestPasswordReset: ({ body, origin }) => useCases.requestPasswordReset(body, origin),
    resendPasswordReset: ({ body, origin }) => useCases.resendCode('password_reset', body, origin),
    confirmPasswordReset: ({ body, origin }) => useCases.resetPassword(body, origin),
    requestEmailVerification: ({ caller, origin }) => useCases.requestEmailVerification(caller, origin),
    resendEmailVerification: ({ body, origin }) => useCases.resendCode('email_verification', body, origin),
    confirmEmailVerification: ({ body, origin }) => useCases.verifyEmail(body, origin),
    requestEmailChange: ({ body, caller, origin }) => useCases.requestEmailChange(body, caller, origin),
    resendEmailChange: ({ body, caller, origin }) => useCases.resendCode('email_change', body, origin, caller.user_id),
    confirmEmailChange: ({ body, caller, origin }) => useCases.changeEmail(body, caller, origin),
    undoEmailChange: ({ body, origin }) => useCases.undoEmailChange(body, origin),
    readRevocations: ({ body, caller, origin }) => useCases.readRevocations(body, caller, origin),
    logIn: ({ body, origin }) => useCases.logIn(body, origin),
    refreshTokens: ({ body, origin }) => useCases.refresh(body, origin),
    logOut: ({ body, caller, origin }) => useCases.logOut(body, caller, origin),
    logOutAll: ({ body, caller, origin }) => useCases.logOutAll(body, caller, origin),
    listSessions: ({ caller }) => useCases.listSessions(caller),
    revokeSession: ({ params, caller, origin }) =>
      useCases.revokeSession(params.session_id.toLowerCase(), caller, origin),
    findCurrentGroup: ({ caller }) => useCases.findCurrentGroup(caller),
    renameGroup: ({ body, caller, origin }) => useCases.renameGroup(body, caller, origin),
    handOverGroup: ({ body, caller, origin }) => useCases.handOverGroup(body, caller, origin),
    acceptInvite: ({ params, body, caller, origin }) => useCases.acceptInvite(params.token, body, caller, origin),
    leaveGroup: ({ caller, origin }) => useCases.leaveGroup(caller, origin),
    removeMember: ({ params, caller, origin }) => useCases.removeMember(params.user_id.toLowerCase(), caller, origin),
    createInvite: ({ body, caller, origin }) => useCases.createInvite(body, caller, origin),
    listInvites: ({ caller }) => useCases.listInvites(caller),
    findInvite: ({ params, origin }) => useCases.findInvite(params.token, origin),
    revokeInvite: ({ params, caller, origin }) => useCases.revokeInvite(params.token, caller, origin),
  };
}
