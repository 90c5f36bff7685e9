import { createHmac, type KeyObject } from 'node:crypto';
import type { TObject } from '@auth-account/contracts/type';
import { AppError, isAppError } from '@auth-account/errors';
import { type IdempotencyStore, isDuplicateKey } from '@auth-account/stores';
import type { IdempotencyDocument, RequestMark } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';

/** The answer to the first request with the same key. */
export interface EarlierAnswer<T> {
  readonly answer: T;
  /** False if the first request had another body. In that case, its answer must not be repeated. */
  readonly isSame: boolean;
}

/** A request with an `Idempotency-Key`, which may get an earlier answer instead of being carried out. */
export interface IdempotentRequest<T> {
  /** One mark of the request for each of the server's secrets; empty if the request has no `Idempotency-Key`. */
  readonly marks: readonly RequestMark[];
  /** Returns the first answer, if there is one. */
  find(): Promise<EarlierAnswer<T> | undefined>;
  /**
   * Carries out the work. If it is refused, the reason may be an earlier try of the same request. Then the answer to
   * that try is returned, as soon as a majority has stored it. If no answer is found, the earlier try may have been
   * rolled back during the search, so the work runs once more before its refusal is thrown. Other errors (for example
   * if a store is away) are thrown at once.
   */
  carryOut<R>(work: () => Promise<R>): Promise<CarriedOut<R, T>>;
  /**
   * Stores the answer about that account, in the transaction of the work. It must be the transaction's first write, so
   * that a simultaneous repeat waits here.
   */
  keep(answer: T, userId: string, session: ClientSession): Promise<void>;
}

export type CarriedOut<R, T> = { readonly result: R } | { readonly earlier: EarlierAnswer<T> };

/** Scope of the key. The same key on another route or from another caller counts as a different key. */
export interface IdempotencyScope {
  readonly route: string;
  /** `email_key` or `user_id`. */
  readonly caller: string;
  /** Undefined if the request had no key. Then nothing is found or stored. */
  readonly key: string | undefined;
  /** The parts, as text, that must be equal for two requests to count as the same. */
  readonly body: string;
}

export interface OpenIdempotentDeps {
  readonly idempotency: IdempotencyStore;
  /**
   * The server's secrets, newest first. For each secret there is a record, whose id and fingerprint are HMACs with that
   * secret.
   */
  readonly secrets: () => readonly KeyObject[];
  readonly now: () => Date;
}

export type OpenIdempotent = <T>(scope: IdempotencyScope) => IdempotentRequest<T>;

/** Milliseconds for which a retry with the same key gets the earlier answer. */
export const idempotentForMs = 24 * 60 * 60 * 1_000;

const withoutKey: IdempotentRequest<never> = {
  marks: [],
  find: async () => undefined,
  carryOut: async (work) => ({ result: await work() }),
  keep: async () => undefined,
};

/**
 * Opens idempotent requests (docs/specification/requests.md, "Repeated requests"). Neither the key nor the body is
 * stored, because the body holds a password. Only their HMACs are stored, so that nobody can guess at them without the
 * server's secret.
 */
export function createOpenIdempotent({ idempotency, secrets, now }: OpenIdempotentDeps): OpenIdempotent {
  return <T>({ route, caller, key, body }: IdempotencyScope): IdempotentRequest<T> => {
    if (key === undefined) return withoutKey;
    // One mark for each secret, because during a rotation a repeat may reach a pod whose newest secret differs.
    const marks = secrets().map((secret) => ({
      _id: hmac(secret, JSON.stringify(['id', route, caller, key])),
      fingerprint: hmac(secret, JSON.stringify(['body', route, body])),
    }));
    if (marks.length === 0) throw new Error('the server has no secret');
    const ids = marks.map(({ _id }) => _id);
    const toEarlier = (found: IdempotencyDocument): EarlierAnswer<T> => ({
      answer: found.answer as T,
      isSame: hasSameBody(marks, [found]),
    });
    return {
      marks,
      async find() {
        const found = await idempotency.find(ids);
        return found && toEarlier(found);
      },
      carryOut: (work) =>
        unlessRefused(work, async () => {
          const found = await idempotency.findConfirmed(ids);
          return found && toEarlier(found);
        }),
      async keep(answer, user_id, session) {
        const expires_at = new Date(now().getTime() + idempotentForMs);
        const kept = marks.map((mark) => ({ ...mark, user_id, answer, expires_at }));
        await idempotency.insert(kept, session);
      },
    };
  };
}

async function unlessRefused<R, T>(
  work: () => Promise<R>,
  findEarlier: () => Promise<EarlierAnswer<T> | undefined>,
): Promise<CarriedOut<R, T>> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return { result: await work() };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const earlier = await findEarlier();
      if (earlier !== undefined) return { earlier };
      if (isAgain) throw error;
    }
  }
}

/**
 * Returns the answer for a repeated request. Raises `ERR-IDEMPOTENCY-KEY-REUSED` if the key was used with another body.
 */
export function replayed<T>({ answer, isSame }: EarlierAnswer<T>): T {
  if (!isSame) throw new AppError('ERR-IDEMPOTENCY-KEY-REUSED');
  return answer;
}

/** Returns true if two requests with one key had the same body. */
export function hasSameBody(a: readonly RequestMark[], b: readonly RequestMark[]): boolean {
  return a.some(({ _id, fingerprint }) => b.some((other) => other._id === _id && other.fingerprint === fingerprint));
}

function isRefusal(error: unknown): boolean {
  return isDuplicateKey(error) || (isAppError(error) && error.status < 500);
}

function hmac(secret: KeyObject, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/**
 * Returns the same text for the same request, whatever the order of its members. Only members that the schema names
 * count, and these are scalars. The others are ignored, because they may be nested too deeply for `JSON.stringify`.
 */
export function canonicalBody({ properties }: TObject, body: Readonly<Record<string, unknown>>): string {
  const named = Object.keys(properties).filter((name) => Object.hasOwn(body, name));
  return JSON.stringify(Object.fromEntries(named.sort().map((name) => [name, body[name]])));
}
