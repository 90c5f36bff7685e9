import type { Collections } from '@auth-account/stores';
import { decodeJwt } from 'jose';
import type { World } from '../load/app.ts';
import { sendFromApp } from '../load/app-request.ts';
import { openAppStream } from '../load/app-stream.ts';
import type { SessionRecord } from '../load/ledger.ts';

/** What a logout promises for the time after it, once the parts can talk. */
export const closeWithinMs = 5_000;

/** Tokens that are tried at once: each costs a request to every process. */
const tokensAtOnce = 40;
const timeoutMs = 5_000;

/** What nobody may take any more. */
export interface Ended {
  readonly session: SessionRecord;
  /** Its session is over, or its user has changed the group since it was signed. */
  readonly of: 'session' | 'claims';
  readonly accessToken: string;
  /** Streams that were opened by this token, or one before it. */
  readonly streams: SessionRecord['streams'];
}

/**
 * Finds what is over as its app was told, and what a majority of MongoDB's members says is over or changed, whatever the
 * app was told: it may have had 503, 404 or nothing. To be called when the parts can talk, and a write has succeeded since:
 * then a majority has all that came before.
 */
export async function findEnded({ ledger }: World, { sessions }: Pick<Collections, 'sessions'>): Promise<Ended[]> {
  const options = { projection: { is_revoked: 1, 'claims.ver': 1 }, readConcern: { level: 'majority' } } as const;
  const stored = new Map((await sessions.find({}, options).toArray()).map((session) => [session._id, session]));
  return [...ledger.sessions.values()].flatMap((session): Ended[] => {
    const { sessionId, accessToken, state, streams } = session;
    const { is_revoked = false, claims } = stored.get(sessionId) ?? {};
    if (is_revoked || state === 'ended') return [{ session, of: 'session', accessToken, streams }];
    const isOld = claims !== undefined && Number(decodeJwt(accessToken).ver) < claims.ver;
    // Its app may refresh, and open another stream, before the look.
    return isOld ? [{ session, of: 'claims', accessToken, streams: new Set(streams) }] : [];
  });
}

/**
 * Holds it against every api and gateway: no token of it is taken, no stream of it is open. To be called when the parts
 * have been able to talk for 5 s since it was found.
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

async function checkToken(world: World, { session, of, accessToken }: Ended): Promise<void> {
  const { streamPath } = session;
  const common = { timeoutMs, requestId: world.nextRequestId() };
  const request = { method: 'GET', path: '/api/v1/auth/sessions', accessToken } as const;
  const answers = world.apiPorts.map((port) => sendFromApp(request, { ...common, port }));
  const upgrades = world.gatewayPorts.map((port) =>
    openAppStream({ ...common, port, path: streamPath, accessToken, onClose: () => undefined }),
  );
  const [replies, streams] = [await Promise.all(answers), await Promise.all(upgrades)];
  if (replies.some((reply) => reply?.status === 200)) {
    world.history.violate(`a token outlived its ${of} at the api`, { ...describe(session), ...common });
  }
  for (const stream of streams) {
    if (typeof stream !== 'object') continue;
    world.history.violate(`a token outlived its ${of} at a gateway`, { ...describe(session), ...common });
    stream.terminate();
  }
}

function describe({ sessionId, userId, state, endedAt }: SessionRecord) {
  return { sessionId, userId, state, endedAt };
}
