import type { World } from '../load/app.ts';
import { sendFromApp } from '../load/app-request.ts';
import { openAppStream } from '../load/app-stream.ts';
import type { SessionRecord } from '../load/ledger.ts';

/** What a logout promises for the time after it, once the parts can talk. */
export const closeWithinMs = 5_000;

/** Tokens that are tried at once: each costs a request to every process. */
const tokensAtOnce = 40;
const timeoutMs = 5_000;

/**
 * Whoever was told more than 5 s ago that a session is over has no stream of it and no token that is taken anywhere. To
 * be called when the parts have been able to talk for 5 s.
 */
export async function checkEndedSessions(world: World): Promise<void> {
  const { history, ledger } = world;
  const until = history.now() - closeWithinMs;
  const due = [...ledger.sessions.values()].filter(
    ({ state, endedAt, isChecked }) => state === 'ended' && endedAt !== undefined && endedAt <= until && !isChecked,
  );
  for (const session of due) {
    session.isChecked = true;
    const open = [...session.streams].filter((stream) => stream.isOpen());
    if (open.length > 0) history.violate('a stream outlived its session', describe(session));
    session.streams.clear();
  }
  for (let from = 0; from < due.length; from += tokensAtOnce) {
    await Promise.all(due.slice(from, from + tokensAtOnce).map((session) => checkToken(world, session)));
  }
  history.note('checkpoint', { sessions: due.length });
}

async function checkToken(world: World, session: SessionRecord): Promise<void> {
  const { accessToken, streamPath } = session;
  const common = { timeoutMs, requestId: world.nextRequestId() };
  const request = { method: 'GET', path: '/api/v1/auth/sessions', accessToken } as const;
  const answers = world.apiPorts.map((port) => sendFromApp(request, { ...common, port }));
  const upgrades = world.gatewayPorts.map((port) =>
    openAppStream({ ...common, port, path: streamPath, accessToken, onClose: () => undefined }),
  );
  const [replies, streams] = [await Promise.all(answers), await Promise.all(upgrades)];
  if (replies.some((reply) => reply?.status === 200)) {
    world.history.violate('a token outlived its session at the api', { ...describe(session), ...common });
  }
  for (const stream of streams) {
    if (typeof stream !== 'object') continue;
    world.history.violate('a token outlived its session at a gateway', { ...describe(session), ...common });
    stream.terminate();
  }
}

function describe({ sessionId, userId, endedAt }: SessionRecord) {
  return { sessionId, userId, endedAt };
}
