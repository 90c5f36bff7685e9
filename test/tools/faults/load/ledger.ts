/** What the apps were told, which the stores are held against. */
export interface Ledger {
  /** By e-mail address. */
  readonly registrations: Map<string, Registration>;
  /** By session. */
  readonly sessions: Map<string, SessionRecord>;
  /** By invite token. */
  readonly invites: Map<string, InviteRecord>;
}

export interface Registration {
  readonly email: string;
  readonly invite: string | undefined;
  /** Its group is where the apps were told that the user is; undefined where they cannot know. */
  readonly person: { readonly groupId: string | undefined };
  /** `unknown` as long as no answer was final. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  userId?: string;
  /** What the 201 said; the user may have moved since. */
  firstGroupId?: string;
}

export interface SessionRecord {
  readonly sessionId: string;
  readonly userId: string;
  readonly deviceId: string;
  /** The newest that its app has. */
  accessToken: string;
  streamPath: string;
  /** `unsure` while a request that may end it has no answer. */
  state: 'live' | 'unsure' | 'ended';
  /** Its app logs in again on its device, or has done so. */
  isReplaced?: boolean;
  /** When its app was told that it is over, in the history's time. */
  endedAt?: number;
  /** Connections of its streams that the app has. */
  readonly streams: Set<{ isOpen(): boolean }>;
}

export interface InviteRecord {
  readonly token: string;
  readonly groupId: string;
  readonly maxUses: number | null;
  /** Users who moved in by it: told so, and perhaps. */
  accepted: number;
  perhapsAccepted: number;
}

export function createLedger(): Ledger {
  return { registrations: new Map(), sessions: new Map(), invites: new Map() };
}
