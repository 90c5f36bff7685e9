import type { Body, Data } from '../calls/call.ts';
import { type ClientGroup, type ClientGroupDeps, endWith } from '../calls/client-group.ts';
import { accountOperations, type OperationName } from '../generated/operations.ts';

export type Account = ReturnType<typeof create>;

/** A person's own account, and codes by e-mail. Each operation raises `AuthError` with the codes of docs/api.md. */
export const account: ClientGroup<Account> = { operations: accountOperations, create };

function create(deps: ClientGroupDeps) {
  return { account: accountOf(deps) };
}

/** Purpose of a code by e-mail. */
type Codes = 'EmailVerification' | 'EmailChange' | 'PasswordReset' | 'Deletion';

function accountOf({ call, keeper, deviceId }: ClientGroupDeps) {
  const send =
    <N extends OperationName>(name: N) =>
    (body: Body<N>): Promise<Data<N>> =>
      call(name, { body });
  const sendEmail =
    <N extends 'requestPasswordReset' | 'requestDeletion'>(name: N) =>
    async (email: string): Promise<Data<N>> =>
      call(name, { body: { email, device_id: await deviceId() } });
  const resend =
    <N extends `resend${Codes}`>(name: N) =>
    (challenge_id: string): Promise<Data<N>> =>
      call(name, { body: { challenge_id } });
  return {
    find: (): Promise<Data<'findAccount'>> => call('findAccount'),
    change: send('changeAccount'),
    /** Ends all other sessions. */
    changePassword: send('changePassword'),
    exportData: (current_password: string): Promise<Data<'exportAccount'>> =>
      call('exportAccount', { body: { current_password } }),
    /** Deletes the account after the time of grace, and signs out. */
    delete: (current_password: string): Promise<Data<'scheduleDeletion'>> =>
      endWith(keeper, 'account_deleted', () => call('scheduleDeletion', { body: { current_password } })),
    /** Keeps an account that is about to be deleted. */
    restore: async (input: Omit<Body<'restoreAccount'>, 'device_id'>): Promise<Data<'restoreAccount'>> =>
      call('restoreAccount', { body: { ...input, device_id: await deviceId() } }),
    /** For whoever has forgotten the password. */
    passwordReset: {
      request: sendEmail('requestPasswordReset'),
      resend: resend('resendPasswordReset'),
      confirm: send('confirmPasswordReset'),
    },
    emailVerification: {
      request: (): Promise<Data<'requestEmailVerification'>> => call('requestEmailVerification'),
      resend: resend('resendEmailVerification'),
      confirm: send('confirmEmailVerification'),
    },
    emailChange: {
      request: send('requestEmailChange'),
      resend: resend('resendEmailChange'),
      confirm: send('confirmEmailChange'),
      /** "Not me", from the mail to the former address. */
      undo: send('undoEmailChange'),
    },
    /** For whoever can't log in any more. */
    deletion: {
      request: sendEmail('requestDeletion'),
      resend: resend('resendDeletion'),
      confirm: send('confirmDeletion'),
    },
  };
}
