import type { SignedOutReason } from '../events.ts';

export interface FakeUser {
  readonly user_id: string;
  readonly email: string;
  /** Empty if there is none. */
  password: string;
  display_name: string | null;
  locale: 'en' | 'ru' | null;
  home_group_id: string;
  account_type: 'HOME' | 'OFFICE';
  readonly created_at: string;
  email_verified: boolean;
}

export interface FakeSession {
  readonly session_id: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly device_name: string | null;
  readonly platform: 'ios' | 'android' | 'web' | 'other' | null;
  readonly created_at: string;
  last_used_at: string;
  /**
   * Generations of the session's refresh tokens, as the service keeps them: see docs/specification/refresh.md,
   * "Generations".
   */
  generation: number;
  parent: number;
  floor: number;
  /** Idempotency key and body of the login. */
  readonly openedBy?: { readonly key: string; readonly body: string };
  /** Header of the login's proof, which has the key to which the session is bound. */
  readonly key?: string;
  /** Reason why the session ended. */
  ended?: SignedOutReason;
  /** Valid access tokens. */
  readonly accessTokens: Set<string>;
}

/** A proof that uses up a challenge. */
export interface FakeChallengeUse {
  readonly id: string;
  readonly proof: string;
}

/** A login whose password or passkey was right. */
export interface FakeLogin {
  readonly user_id: string;
  readonly device: {
    readonly device_id?: string;
    readonly device_name?: string;
    readonly platform?: NonNullable<FakeSession['platform']>;
  };
  readonly openedBy?: NonNullable<FakeSession['openedBy']>;
  readonly key?: string;
  /** The person whose identity the login links. */
  readonly person?: FakePerson;
  /** The proofs that count once the session is open. */
  readonly challengeUses?: readonly FakeChallengeUse[];
}

/** A code that was mailed. */
export interface FakeCode {
  /** The operation that takes it, or the link that it is for. */
  readonly purpose: string;
  readonly email: string;
  tries_left: number;
}

export interface FakeFactor {
  /** Id of the authenticator app that is being added. */
  pending?: string | undefined;
  confirmed_at: string | null;
  recovery_codes: readonly string[];
  /** Time of the removal that was ordered. */
  removal?: { readonly due_at: string } | undefined;
}

export interface FakePasskey {
  readonly user_id: string;
  readonly passkey_id: string;
  name: string | null;
  readonly created_at: string;
}

/** A person as a provider knows them. */
export interface FakePerson {
  readonly provider: string;
  readonly sub: string;
  readonly email: string | undefined;
  readonly email_verified: boolean;
  readonly name: string | undefined;
}

export interface FakeIdentity {
  readonly identity_id: string;
  readonly user_id: string;
  readonly provider: string;
  readonly sub: string;
  readonly email: string | null;
  readonly created_at: string;
}

/** A person whose email address an account has. */
export interface FakeLink {
  readonly user_id: string;
  readonly person: FakePerson;
  /** The challenge of the token, which counts once. */
  readonly provider_challenge_id: string;
}

export interface FakeStepUp {
  readonly session_id: string;
  readonly purpose: string;
  readonly isProved: boolean;
  /** The proof that has answered the challenge, and the answer. */
  answered?: { readonly proof: string; readonly data: object };
}

/** Everything that the fake service keeps. */
export interface FakeRecords {
  readonly users: Map<string, FakeUser>;
  readonly sessions: Map<string, FakeSession>;
  /** Answers by idempotency key. */
  readonly answers: Map<string, { readonly body: string; readonly data: object }>;
  readonly secondFactor: {
    /** The right code, if the test has set it. */
    code: string | undefined;
    /** Logins that wait for the second factor. */
    readonly logins: Map<string, FakeLogin>;
    /** Second factors by user. */
    readonly of: Map<string, FakeFactor>;
    /** Trusted devices by their token. */
    readonly trusts: Map<string, { readonly user_id: string; readonly device_id: string; readonly at: Date }>;
  };
  /** Mailed codes by their challenge. */
  readonly codes: Map<string, FakeCode>;
  /** Passkeys by credential id. */
  readonly passkeys: Map<string, FakePasskey>;
  readonly identities: FakeIdentity[];
  /** Links by their challenge. */
  readonly links: Map<string, FakeLink>;
  /** Challenges of providers and passkeys. */
  readonly challenges: Set<string>;
  /** Proofs by the challenge that they have used up, with the session that they have opened. */
  readonly consumed: Map<string, { readonly proof: string; readonly session: FakeSession }>;
  /** Step-ups by the text that is their challenge, then their token. */
  readonly stepUps: Map<string, FakeStepUp>;
  readonly newId: () => string;
  readonly now: () => Date;
}

/** The code of every mail of the fake service. */
export const mailedCode = '04815162';

/** Seconds that an access token lasts. */
export const accessSeconds = 600;

export function userByEmail({ users }: FakeRecords, email: string): FakeUser | undefined {
  return [...users.values()].find((user) => user.email.toLowerCase() === email.toLowerCase());
}

/** Returns the live session to which the token belongs. */
export function sessionOfAccess({ sessions }: FakeRecords, token: string): FakeSession | undefined {
  return [...sessions.values()].find((session) => !session.ended && session.accessTokens.has(token));
}

export const refreshTokenOf = ({ session_id, generation }: FakeSession) => `${session_id}.${generation}`;

/** Reads a refresh token. Returns undefined if this service did not issue it. */
export function parseRefreshToken({ sessions }: FakeRecords, token: string) {
  const [id = '', generation] = token.split('.');
  const session = sessions.get(id);
  return session && /^\d+$/.test(generation ?? '') ? { session, generation: Number(generation) } : undefined;
}

/** Makes the session's next access token. */
export function newAccessToken({ newId }: FakeRecords, session: FakeSession): string {
  const token = `access-${newId()}`;
  session.accessTokens.add(token);
  return token;
}

/** Moves the generations as the service does. Returns false if the token is revoked, so that its session ends. */
export function rotate(session: FakeSession, presented: number): boolean {
  if (presented === session.parent) session.generation += 1;
  else if (presented > session.floor) {
    session.parent = presented;
    session.floor = Math.max(session.generation, presented);
    session.generation = session.floor + 1;
  } else return false;
  return true;
}

/** Stores an account as a registration makes it. */
export function addUser(
  { users, newId, now }: FakeRecords,
  facts: Pick<FakeUser, 'email' | 'account_type'> & Partial<FakeUser>,
): FakeUser {
  const ids = { user_id: newId(), home_group_id: newId(), created_at: now().toISOString() };
  const user = { ...ids, password: '', display_name: null, locale: null, email_verified: false, ...facts };
  users.set(user.user_id, user);
  return user;
}
