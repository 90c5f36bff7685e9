import type { Data } from '../calls/call.ts';
import type { ErrorCode } from '../generated/reactions.ts';
import {
  accessSeconds,
  type FakeChallengeUse,
  type FakeLogin,
  type FakeRecords,
  type FakeSession,
  type FakeUser,
  newAccessToken,
  refreshTokenOf,
} from './fake-records.ts';

/** A refusal, with the code and the status of the contract. */
export class FakeRefusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: object;
  constructor(status: number, code: ErrorCode, details: object = {}) {
    super(`The fake service answers ${code}.`);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export interface FakeCall {
  readonly params: Readonly<Record<string, string>>;
  readonly body: never;
  readonly idempotencyKey: string | undefined;
  /** Header of the request's proof (`DPoP`). It is not verified. */
  readonly key: string | undefined;
  /** The caller's session. It is there only if the operation takes an access token. */
  readonly session: FakeSession;
  /** The contract's example of the answer. */
  readonly example: object;
  /** The answer's status, which an operation with two kinds of success may change. */
  readonly reply: { status: number };
}

export interface FakeOperationsDeps {
  readonly records: FakeRecords;
  readonly endSession: (session: FakeSession, reason: NonNullable<FakeSession['ended']>) => void;
  readonly pushUrl: string;
}

/** Carries out an operation and returns the `data` of its success. */
export type FakeOperation = (call: FakeCall) => object;

/** Returns the session that the challenge has opened with the same proof. Refuses a challenge that was used otherwise. */
export function openedBefore({ consumed }: FakeRecords, { id, proof }: FakeChallengeUse): FakeSession | undefined {
  const used = consumed.get(id);
  if (used && (used.proof !== proof || used.session.ended)) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
  return used?.session;
}

/** Refuses a text that is no challenge. */
export function assertChallenge({ challenges }: FakeRecords, id: string): void {
  if (!challenges.has(id)) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
}

export function newChallenge({ challenges, newId }: FakeRecords): string {
  const id = newId();
  challenges.add(id);
  return id;
}

/** Ends every login: opens the session and returns its tokens. */
export function createOpenSession({ records, endSession, pushUrl }: FakeOperationsDeps) {
  const { sessions, consumed, newId, now } = records;
  return ({ user_id, device, openedBy, key, challengeUses = [] }: FakeLogin): Data<'logIn'> => {
    const { device_id = newId(), device_name, platform } = device;
    const live = [...sessions.values()].filter((one) => one.user_id === user_id && !one.ended);
    const earlier = openedBy && openedUnder(live, openedBy);
    if (earlier) return tokensOf(records, pushUrl, earlier);
    for (const one of live) if (one.device_id === device_id) endSession(one, 'replaced');
    const about = { device_id, device_name: device_name ?? null, platform: platform ?? null };
    const created_at = now().toISOString();
    const ids = { session_id: newId(), user_id, created_at, last_used_at: created_at };
    const session = {
      ...ids,
      ...about,
      ...(openedBy && { openedBy }),
      ...(key && { key }),
      generation: 1,
      parent: 0,
      floor: 0,
      accessTokens: new Set<string>(),
    };
    sessions.set(session.session_id, session);
    for (const { id, proof } of challengeUses) consumed.set(id, { proof, session });
    return tokensOf(records, pushUrl, session);
  };
}

function openedUnder(live: readonly FakeSession[], by: NonNullable<FakeSession['openedBy']>): FakeSession | undefined {
  const earlier = live.find(({ openedBy }) => openedBy?.key === by.key);
  if (earlier && earlier.openedBy?.body !== by.body) throw new FakeRefusal(422, 'ERR-IDEMPOTENCY-KEY-REUSED');
  return earlier;
}

/** Returns the answer of a login or refresh. */
export function tokensOf(records: FakeRecords, pushUrl: string, session: FakeSession): Data<'logIn'> {
  const user = records.users.get(session.user_id) as FakeUser;
  const path = `/ws/push-stream/${session.session_id}`;
  return {
    access_token: newAccessToken(records, session),
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: refreshTokenOf(session),
    refresh_expires_in: 2_592_000,
    ...(session.key && { bound: true as const }),
    user_id: user.user_id,
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    session_id: session.session_id,
    device_id: session.device_id,
    push_stream_path: path,
    push_stream_url: `${pushUrl}${path}`,
    timestamp: records.now().toISOString(),
  };
}
