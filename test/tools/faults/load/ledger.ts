/** Everything that the apps were told, to be compared with the stores. */
export interface Ledger {
  /** Registrations by e-mail address. */
  readonly registrations: Map<string, Registration>;
  /** Sessions by id. */
  readonly sessions: Map<string, SessionRecord>;
  /** Invites by token. */
  readonly invites: Map<string, InviteRecord>;
  /** Accounts whose registration was acknowledged, by user. */
  readonly accounts: Map<string, AccountRecord>;
}

export interface Registration {
  readonly email: string;
  readonly invite: string | undefined;
  /** Group according to the apps' answers; undefined if they can't know it. */
  readonly person: { readonly groupId: string | undefined };
  /** `unknown` as long as there was no final answer. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  userId?: string;
  /** Content of the 201; the user may have moved since. */
  firstGroupId?: string;
}

/** An address and a password; without a password nobody can log in until it is reset. */
export interface Credentials {
  readonly email: string;
  readonly password: string | undefined;
}

/** A deletion that was ordered, or may have been. */
export interface Deletion {
  /** Time of the erasure in ms; undefined while no answer has told it. */
  readonly deletesAt: number | undefined;
}

/** Changes of an account that other services are told of, as events tell them apart. */
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
  /** `perhaps` as long as no answer has shown whether it took effect. */
  outcome: 'done' | 'perhaps' | 'none';
}

/** Everything that an account's user was told of it since its registration. */
export interface AccountRecord {
  readonly userId: string;
  readonly person: {
    readonly id: number;
    /** Pairs of which one logs in; more than one if answers are missing. */
    readonly holds: readonly Credentials[];
    readonly deletion?: Deletion | undefined;
  };
  readonly changes: ChangeRecord[];
  /** Pairs that have logged in, and must not again. */
  readonly former: Credentials[];
}

export interface SessionRecord {
  readonly sessionId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** Newest token that its app has. */
  accessToken: string;
  refreshToken: string;
  streamPath: string;
  /** `unsure` while a request that may end it has no answer. */
  state: 'live' | 'unsure' | 'ended';
  /** True if its app logs in again on its device, or has done so. */
  isReplaced?: boolean;
  /** Time at which its app was told that it has ended, by the history's clock. */
  endedAt?: number;
  /** Connections of its streams that the app has open. */
  readonly streams: Set<{ isOpen(): boolean }>;
}

export interface InviteRecord {
  readonly token: string;
  readonly groupId: string;
  readonly maxUses: number | null;
  /** Number of users who joined with it: those who were told so, and those who may have. */
  accepted: number;
  perhapsAccepted: number;
}

export function createLedger(): Ledger {
  return { registrations: new Map(), sessions: new Map(), invites: new Map(), accounts: new Map() };
}
