import type { SessionDocument } from '@auth-account/stores/documents';

/** Lifetime of a session, in seconds. */
export interface SessionLifetime {
  /** Since its last use. */
  readonly idleSeconds: number;
  /** In all. */
  readonly absoluteSeconds: number;
}

/** Returns the expiry times of a session that begins at `at`. */
export function newExpiry(
  at: Date,
  { idleSeconds, absoluteSeconds }: SessionLifetime,
): Pick<SessionDocument, 'expires_at' | 'absolute_expires_at'> {
  const absolute_expires_at = addSeconds(at, absoluteSeconds);
  return { expires_at: earlier(addSeconds(at, idleSeconds), absolute_expires_at), absolute_expires_at };
}

/** Returns the idle expiry after a use at `at`. The session's absolute one may be earlier. */
export function idleExpiry(at: Date, { idleSeconds }: SessionLifetime): Date {
  return addSeconds(at, idleSeconds);
}

/** Returns the idle expiry after a use at `at`, never past the absolute one. */
export function extendedExpiry(session: SessionDocument, at: Date, lifetime: SessionLifetime): Date {
  return earlier(idleExpiry(at, lifetime), session.absolute_expires_at);
}

function addSeconds(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1_000);
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
