import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError, type ThrowableCode } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { IdentityDocument, RequestMark, SessionAuth } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { EndedSessions, Outcome } from '../../announcements/commit.ts';
import type { LoginMethod } from '../../audit/audit-row.ts';
import type { LoginRefusal } from '../../audit/events.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import type { RightProof } from '../proofs/use-proof.ts';
import type { DeviceFields } from './new-device.ts';

/** A person who has proved to be the account's user, and the device on which they log in. */
export interface ProvedLogin {
  /** The account as the check of the proof has read it. */
  readonly seen: PresentUser;
  /** True if the account was created for this login. */
  readonly isNewAccount?: boolean;
  /** The device, with the token by which it may be trusted instead of a second factor. */
  readonly device: DeviceFields & { readonly trusted_device_token?: string };
  /** Id of the device, if an earlier step of the login has made it up; by default that of {@link device}, or a new one. */
  readonly deviceId?: string;
  /** The method with which the login began. */
  readonly method: LoginMethod;
  readonly auth: Omit<SessionAuth, 'at'>;
  /** The proof that the login uses up; none for a password. */
  readonly proof?: RightProof;
  /** The challenges that the login uses up. */
  readonly challengeUses?: readonly ChallengeUse[];
  /** Trust in the device: used instead of a second factor, or made with this token. */
  readonly trust?: 'used' | { readonly token: string } | undefined;
  /** Identity by which the login began. */
  readonly identityId?: string | undefined;
  /** Identity that the login links to the account. */
  readonly link?: NewIdentity | undefined;
  /** Key to which the session is bound; by default the key that the request has proven. */
  readonly jkt?: string | undefined;
  /** Marks of the request's `Idempotency-Key`. A live session with these marks is the answer to a repeat. */
  readonly marks?: readonly RequestMark[];
  /**
   * Returns the error if a sign-in method was changed since the proof was checked; `ERR-INVALID-CREDENTIALS` by
   * default.
   */
  readonly ifChanged?: () => AppError;
}

/** Returns true if the login proves the account's email address for the first time: see {@link ProveEmail}. */
export function isFirstProof({ seen, proof }: Pick<ProvedLogin, 'seen' | 'proof'>): boolean {
  return proof?.kind === 'email_code' && seen.email_verified_at === undefined;
}

export interface OpenedSession {
  readonly data: TokenResponse['data'];
  /** True if an earlier login with the same `Idempotency-Key` opened the session. */
  readonly isReplayed: boolean;
}

/** Verifies the account's email address in the transaction of a login that has proved it for the first time. */
export type ProveEmail = (
  proof: { readonly user: PresentUser; readonly device: string; readonly at: Date },
  origin: RequestOrigin,
  session: ClientSession,
) => Promise<ProvedEmail>;

/** Changes that come with the first proof of an email address. */
export interface ProvedEmail extends Pick<Outcome, 'events' | 'audit'> {
  readonly ended: EndedSessions;
  /** The account after the proof. */
  readonly user: PresentUser;
}

/** A person at a provider, whose identity is to be linked. */
export type NewIdentity = Pick<IdentityDocument, 'provider' | 'sub' | 'email'>;

/** The identity to link, and the session that links it. */
export interface Linking {
  readonly identity: IdentityDocument;
  readonly sessionId: string;
}

/** Links an identity to the account, in a transaction. `seen` is the account as the transaction has left it. */
export type AddIdentity = (
  seen: PresentUser,
  linking: Linking,
  origin: RequestOrigin,
  session: ClientSession,
) => Promise<Pick<Outcome, 'events' | 'audit'>>;

/**
 * Raises `ERR-ACCOUNT-DISABLED` or `ERR-ACCOUNT-DELETION-SCHEDULED` if nobody may log in to the account now. Only a
 * caller whose proof was right may learn this.
 */
export function assertMayLogIn({ disabled_at, deletes_at }: PresentUser): void {
  if (disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
  if (deletes_at !== undefined) {
    throw new AppError('ERR-ACCOUNT-DELETION-SCHEDULED', { details: { deletes_at: deletes_at.toISOString() } });
  }
}

const refusals: Partial<Readonly<Record<ThrowableCode, LoginRefusal>>> = {
  'ERR-INVALID-CREDENTIALS': 'credentials_changed',
  'ERR-ACCOUNT-DISABLED': 'account_disabled',
  'ERR-ACCOUNT-DELETION-SCHEDULED': 'deletion_scheduled',
};

/** Returns the audit log's reason why a login with a right proof was refused; undefined for any other error. */
export function loginRefusalOf(error: unknown): LoginRefusal | undefined {
  return isAppError(error) ? refusals[error.code] : undefined;
}
