import { randomUUID } from 'node:crypto';
import type { Collections } from '@auth-account/stores';
import { decodeJwt } from 'jose';
import { requestTo } from '../../../support/api/api-driver.ts';
import type { World } from '../load/app.ts';
import { sendFromApp } from '../load/app-request.ts';
import type { SessionRecord } from '../load/ledger.ts';
import { openAppStream } from '../load/push.ts';

/** The promises of a logout hold at the latest this many milliseconds after the services can communicate again. */
export const closeWithinMs = 5_000;

/** Number of tokens that are tried concurrently. Each token costs a request to every process. */
const tokensAtOnce = 40;
const timeoutMs = 5_000;

/** A token that no service may accept any more. */
export interface Ended {
  readonly session: SessionRecord;
  /** `session` if its session has ended, `claims` if its user has changed groups since it was signed. */
  readonly of: 'session' | 'claims';
  readonly accessToken: string;
  /** Streams that were opened with this token or an earlier one. */
  readonly streams: SessionRecord['streams'];
}

/**
 * Finds sessions and tokens that have ended: because an app got that answer, or because a majority of MongoDB's members
 * has stored it, even if the app got 503, 404 or no answer. Call this only after the services can communicate again and
 * a write has then succeeded, because a majority has everything that was written before that write.
 */
export async function findEnded({ ledger }: World, { sessions }: Pick<Collections, 'sessions'>): Promise<Ended[]> {
  const options = { projection: { is_revoked: 1, 'claims.ver': 1 }, readConcern: { level: 'majority' } } as const;
  const stored = new Map((await sessions.find({}, options).toArray()).map((session) => [session._id, session]));
  return [...ledger.sessions.values()].flatMap((session): Ended[] => {
    const { sessionId, accessToken, state, streams } = session;
    const { is_revoked = false, claims } = stored.get(sessionId) ?? {};
    if (is_revoked || state === 'ended') return [{ session, of: 'session', accessToken, streams }];
    const isOld = claims !== undefined && Number(decodeJwt(accessToken).ver) < claims.ver;
    // The app may refresh, and open another stream, before the check.
    return isOld ? [{ session, of: 'claims', accessToken, streams: new Set(streams) }] : [];
  });
}

/**
 * Checks that no api or gateway accepts these tokens, and that no gateway has a stream open for them. Between
 * `findEnded` and this call, the services must have been able to communicate for 5 s.
 */
export async function checkEnded(world: World, ended: readonly Ended[]): Promise<void> {
  const { history } = world;
  for (const { session, of, streams } of ended) {
    const open = [...streams].filter((stream) => stream.isOpen());
    if (open.length > 0) history.violate(`a stream outlived its ${of}`, describe(session));
    streams.clear();
  }
  const due = ended.filter(({ accessToken }) => (decodeJwt(accessToken).exp ?? 0) * 1_000 > Date.now());
  for (let from = 0; from < due.length; from += tokensAtOnce) {
    await Promise.all(due.slice(from, from + tokensAtOnce).map((each) => checkToken(world, each)));
  }
  history.note('checkpoint', { sessions: ended.length, tokens: due.length });
}

/**
 * Checks that a token is refused, and that a refresh of its session is refused too. The refresh comes last, because a
 * refused refresh announces the end of the session again, which would hide that a service has missed it.
 */
async function checkToken(world: World, { session, of, accessToken }: Ended): Promise<void> {
  const { streamPath, refreshToken: refresh_token } = session;
  const common = { timeoutMs, requestId: randomUUID() };
  const request = { ...requestTo('listSessions'), accessToken };
  const answers = world.apis.map((api) => sendFromApp(request, { ...common, api }));
  const upgrades = world.gateways.map((base) => openAppStream({ ...common, url: base + streamPath, accessToken }));
  const [replies, streams] = [await Promise.all(answers), await Promise.all(upgrades)];
  if (replies.some((reply) => reply?.status === 200)) {
    world.history.violate(`a token outlived its ${of} at the api`, { ...describe(session), ...common });
  }
  for (const stream of streams) {
    if (typeof stream !== 'object') continue;
    world.history.violate(`a token outlived its ${of} at a gateway`, { ...describe(session), ...common });
    stream.terminate();
  }
  if (of === 'claims') return;
  const refresh = requestTo('refreshTokens', { refresh_token });
  const refreshed = await Promise.all(world.apis.map((api) => sendFromApp(refresh, { ...common, api })));
  if (refreshed.some((reply) => reply?.status === 200)) {
    world.history.violate('a session that has ended was refreshed', { ...describe(session), ...common });
  }
}

function describe({ sessionId, userId, state, endedAt }: SessionRecord) {
  return { sessionId, userId, state, endedAt };
}
