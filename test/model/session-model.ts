/** Expected answer to a refresh. */
export type Expected = { readonly answer: number } | { readonly refusal: 'STOLEN' | 'EXPIRED' };

/** Lifetime of a session, in milliseconds. */
export interface ModelLifetime {
  readonly idle: number;
  readonly absolute: number;
}

/**
 * A model of docs/specification/refresh.md, "Generations", without its arithmetic. It has the token that was presented
 * last, and the set of valid tokens that were handed out for it. Tokens are named by their generation.
 */
export interface SessionModel {
  readonly parent: number;
  readonly children: ReadonlySet<number>;
  /** The highest generation so far. */
  readonly newest: number;
  readonly handedOutAt: number;
  readonly expiresAt: number;
  readonly endsAt: number;
  readonly isRevoked: boolean;
}

export function newSessionModel(at: number, { idle, absolute }: ModelLifetime): SessionModel {
  return {
    parent: 0,
    children: new Set([1]),
    newest: 1,
    handedOutAt: at,
    expiresAt: Math.min(at + idle, at + absolute),
    endsAt: at + absolute,
    isRevoked: false,
  };
}

/** Presents a genuine token. `isProven`: with the proof that the session needs, if it needs any. Returns the answer, and the session after it. */
export function present(
  session: SessionModel,
  token: number,
  at: number,
  {
    windowMs,
    idle,
    isProven = true,
  }: { readonly windowMs: number; readonly idle: number; readonly isProven?: boolean },
): { readonly expected: Expected; readonly session: SessionModel } {
  if (session.isRevoked) return { session, expected: { refusal: 'STOLEN' } };
  if (at >= session.expiresAt || !isProven) return { session, expected: { refusal: 'EXPIRED' } };
  const isFromTheFuture = token > session.newest;
  const isRepeated = token === session.parent;
  if (!isRepeated && !isFromTheFuture && !session.children.has(token)) {
    return { session: { ...session, isRevoked: true }, expected: { refusal: 'STOLEN' } };
  }
  if (isRepeated && at - session.handedOutAt <= windowMs) {
    return { session, expected: { answer: Math.max(...session.children) } };
  }
  const made = (isFromTheFuture ? token : session.newest) + 1;
  const children = new Set(isRepeated ? [...session.children, made] : [made]);
  const expiresAt = Math.min(at + idle, session.endsAt);
  const after = { ...session, parent: token, children, newest: made, handedOutAt: at, expiresAt };
  return { session: after, expected: { answer: made } };
}
