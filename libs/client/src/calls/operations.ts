import type { SessionInfo, SignedOutReason } from '../events.ts';
import type { OperationName } from '../generated/operations.ts';
import { isLost } from '../http/auth-error.ts';
import type { Platform } from '../platform/platform.ts';
import type { Keeper } from '../session/keeper.ts';
import type { Body, Call, Data } from './call.ts';

/** Operations of the service, grouped as an app's screens are. Each raises `AuthError` with the codes of docs/api.md. */
export type Operations = ReturnType<typeof createOperations>;

export interface OperationsDeps {
  readonly platform: Pick<Platform, 'randomUUID' | 'now'>;
  readonly call: Call;
  readonly keeper: Keeper;
  readonly deviceId: () => Promise<string>;
}

export function createOperations(deps: OperationsDeps) {
  return { sessions: sessionsOf(deps), group: groupOf(deps), invites: invitesOf(deps), account: accountOf(deps) };
}

function sessionsOf({ call, keeper }: OperationsDeps) {
  return {
    /** The devices that are logged in. */
    list: async (): Promise<Data<'listSessions'>['sessions']> => (await call('listSessions')).sessions,
    /** Ends the session of a device. If it is this one, it is signed out here too. */
    async revoke(session_id: string): Promise<void> {
      await call('revokeSession', { params: { session_id } });
      if (sessionOf(keeper)?.session_id === session_id) await keeper.end('logged_out', false);
    },
    /** Ends all sessions but this one. Returns their number. */
    async revokeOthers(): Promise<number> {
      return (await call('logOutAll', { body: { except_current: true } })).terminated_sessions;
    },
    /** Ends all sessions, this one too. */
    async revokeAll(): Promise<number> {
      const logOutAll = () => call('logOutAll', { body: {} });
      return (await endWith(keeper, 'logged_out', logOutAll)).terminated_sessions;
    },
  };
}

/** Does what ends the present session, and ends it here too; not one that has followed it meanwhile. */
async function endWith<T>(keeper: Keeper, reason: SignedOutReason, work: () => Promise<T>): Promise<T> {
  const { era } = await keeper.load();
  const data = await work();
  if ((await keeper.load()).era === era) await keeper.end(reason, false);
  return data;
}

/** Gets the claims of the new group; if there is no answer, the next call that is refused gets them. */
async function renewClaims(keeper: Keeper): Promise<void> {
  const { token } = await keeper.access();
  await keeper.renew(token).catch(() => undefined);
}

function sessionOf(keeper: Keeper): SessionInfo | undefined {
  const state = keeper.state();
  return state.status === 'signed_in' ? state.session : undefined;
}

function groupOf({ call, keeper, platform }: OperationsDeps) {
  return {
    find: (): Promise<Data<'findCurrentGroup'>> => call('findCurrentGroup'),
    /** Null removes the name. */
    rename: (name: string | null): Promise<Data<'renameGroup'>> => call('renameGroup', { body: { name } }),
    handOver: (user_id: string): Promise<Data<'handOverGroup'>> => call('handOverGroup', { body: { user_id } }),
    /** Leaves the group for a new household. */
    async leave(): Promise<Data<'leaveGroup'>> {
      const before = (await keeper.load()).session?.home_group_id;
      const hasMoved = () => sessionOf(keeper)?.home_group_id !== before;
      try {
        const data = await call('leaveGroup', { isWanted: () => !hasMoved() });
        await renewClaims(keeper);
        return data;
      } catch (error) {
        const { home_group_id, account_type } = sessionOf(keeper) ?? {};
        // The answer of an earlier try was lost: a repeated one would leave the new household too.
        if (before === undefined || home_group_id === undefined || account_type === undefined || !hasMoved())
          throw error;
        return { home_group_id, account_type, role: 'owner', timestamp: new Date(platform.now()).toISOString() };
      }
    },
    removeMember: (user_id: string): Promise<Data<'removeMember'>> => call('removeMember', { params: { user_id } }),
  };
}

function invitesOf({ call, keeper, platform }: OperationsDeps) {
  return {
    async create(input: Body<'createInvite'> = {}): Promise<Data<'createInvite'>> {
      const outgoing = { body: input, idempotencyKey: platform.randomUUID() };
      return call('createInvite', outgoing).catch((error) => {
        // With the same key it is the same invite.
        if (isLost(error)) return call('createInvite', outgoing);
        throw error;
      });
    },
    list: (): Promise<Data<'listInvites'>> => call('listInvites'),
    /** Finds out where the invite leads; nobody needs to be signed in. */
    find: (token: string): Promise<Data<'findInvite'>> => call('findInvite', { params: { token } }),
    revoke: (token: string): Promise<Data<'revokeInvite'>> => call('revokeInvite', { params: { token } }),
    /** Moves into the group of the invite. */
    async accept(token: string, input: Body<'acceptInvite'> = {}): Promise<Data<'acceptInvite'>> {
      const data = await call('acceptInvite', { params: { token }, body: input });
      await renewClaims(keeper);
      return data;
    },
  };
}

/** Purpose of a code by e-mail. */
type Codes = 'EmailVerification' | 'EmailChange' | 'PasswordReset' | 'Deletion';

function accountOf({ call, keeper, deviceId }: OperationsDeps) {
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
