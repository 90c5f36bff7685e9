import type { Outcome } from './history.ts';

export interface Registration {
  readonly email: string;
  readonly invite: string | undefined;
  /** The user. `groupId` is the group that the answers named; undefined if the apps can't know the group. */
  readonly person: { readonly groupId: string | undefined };
  /** `unknown` while there is no final answer. */
  outcome: Outcome;
  userId?: string;
  /** The group in the 201. The user may have moved since. */
  firstGroupId?: string;
}

/** An email address and a password. Without a password nobody can log in until a reset. */
export interface Credentials {
  readonly email: string;
  readonly password: string | undefined;
}

/** A deletion that was ordered, or may have been. */
export interface Deletion {
  /** The time of the erasure in milliseconds; undefined while no answer has named it. */
  readonly deletesAt: number | undefined;
}

/** Kinds of account changes that events report to other services. */
export type ChangeKind =
  | 'changed'
  | 'reset'
  | 'undone'
  | 'email_changed'
  | 'email_undone'
  | 'deletion_scheduled'
  | 'deletion_cancelled';

export interface ChangeRecord {
  readonly kind: ChangeKind;
  /** `perhaps` while no answer has shown whether the change took effect. */
  outcome: 'done' | 'perhaps' | 'none';
}

/** Everything that an account's user has learned about the account since its registration. */
export interface AccountRecord {
  readonly userId: string;
  readonly person: {
    readonly id: number;
    /** Pairs of email address and password, of which exactly one can log in: several if answers are missing. */
    readonly holds: readonly Credentials[];
    readonly deletion?: Deletion | undefined;
  };
  readonly changes: ChangeRecord[];
  /** Pairs of email address and password that could log in once, but must not any more. */
  readonly former: Credentials[];
}

export interface SessionRecord {
  readonly sessionId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** The newest token that the session's app has. */
  accessToken: string;
  refreshToken: string;
  streamPath: string;
  /** `unsure` while a request that may end it has no answer. */
  state: 'live' | 'unsure' | 'ended';
  /** True if the session's app logs in again on its device, or has done so. */
  isReplaced?: boolean;
  /** The time at which the session's app was notified of its end, by the history's clock. */
  endedAt?: number;
  /** The session's streams that the app has open. */
  readonly streams: Set<{ isOpen(): boolean }>;
}

export interface InviteRecord {
  readonly token: string;
  readonly groupId: string;
  readonly maxUses: number | null;
  /** Number of users who got the answer that they joined with the invite. */
  accepted: number;
  /** Number of users who may have joined with the invite, because they got no answer. */
  perhapsAccepted: number;
}

/** Everything that the apps recorded, for a comparison with the stores. */
export type Ledger = ReturnType<typeof createLedger>;

export const createLedger = () => ({
  /** Registrations by e-mail address. */
  registrations: new Map<string, Registration>(),
  /** Sessions by id. */
  sessions: new Map<string, SessionRecord>(),
  /** Invites by token. */
  invites: new Map<string, InviteRecord>(),
  /** Accounts whose registration was acknowledged, by user id. */
  accounts: new Map<string, AccountRecord>(),
});

/** Records a registration without an answer. Its group is unknown if no person is given. */
export function beginRegistration(
  { registrations }: Ledger,
  email: string,
  { invite, person = { groupId: undefined } }: Partial<Pick<Registration, 'invite' | 'person'>> = {},
): Registration {
  const registration: Registration = { email, invite, person, outcome: 'unknown' };
  registrations.set(email, registration);
  return registration;
}
