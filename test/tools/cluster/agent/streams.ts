import { bearer, dataOf } from '../../../support/api/api-driver.ts';
import type { StreamClient } from '../../../support/gateway/push-client.ts';
import { apiAt } from './ask.ts';
import {
  logIn,
  newSessions,
  openStream,
  register,
  type Session,
  type StreamCredentials,
  type Target,
} from './sessions.ts';

/**
 * Ends a stream in each way that an app can cause, and reports how each end arrives. Does not use the client of apps,
 * because that hides the codes from its app.
 */
export async function walkCloses({ api, push, by }: Target & { by: StreamCredentials }) {
  const { email } = await register(api);
  const invite = await inviteOfAnother(api);

  async function end(signInMethod: string, act: (session: Session, stream: StreamClient) => Promise<unknown>) {
    const session = await logIn(api, email);
    const stream = await openStream(push, session, by);
    await act(session, stream);
    const { code, reason } = await stream.closed;
    return { signInMethod, end: `${code} ${reason}` };
  }

  return [
    await end('logout', (session) => apiAt(api).logOut(session, bearer(session))),
    await end('ended by another device', async ({ session_id }) => {
      const other = await logIn(api, email);
      await apiAt(api).revokeSession({ session_id }, bearer(other));
    }),
    await end('login on the same device', ({ device_id }) => logIn(api, email, device_id)),
    await end('second stream of the session', (session) => openStream(push, session, by)),
    await end('move to another group', (session) =>
      dataOf(apiAt(api).acceptInvite({ token: invite, leave_current_group: true }, bearer(session))),
    ),
    { signInMethod: 'wrong token', end: await refusalOf(push, await logIn(api, email), by) },
  ];
}

/** Returns the token of an invite into a new account's group. */
async function inviteOfAnother(api: string): Promise<string> {
  const { email } = await register(api);
  const caller = bearer(await logIn(api, email));
  return (await dataOf(apiAt(api).createInvite({}, caller), 201)).invite_token;
}

async function refusalOf(push: string, session: Session, by: StreamCredentials): Promise<string> {
  try {
    await openStream(push, { ...session, access_token: `${session.access_token.slice(0, -4)}AAAA` }, by);
    return 'opened';
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Opens a stream with each part of the handshake that may carry the token, never renews the token, and reports how the
 * streams end, so tokens must be short-lived. The reported times begin at the login.
 */
export function outliveTokens({ api, push }: Target) {
  async function end(by: StreamCredentials) {
    const { email } = await register(api);
    const start = performance.now();
    const { closed } = await openStream(push, await logIn(api, email), by);
    const { code, reason, at } = await closed;
    return { signInMethod: `token by ${by}`, end: `${code} ${reason}`, ms: at - start };
  }
  return Promise.all([end('header'), end('subprotocol')]);
}

interface AcrossOrder {
  /** URLs of individual pods. */
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  /** Number of logouts through each api of streams on each gateway. */
  readonly each: number;
}

/**
 * Opens streams on every gateway pod, then logs each out through a given api pod, one after another. Does not use the
 * client of apps, because that closes its stream itself. Reports for each pair of pods the ends, and the number of other
 * streams that closed.
 */
export async function logOutAcross({ apis, gateways, each }: AcrossOrder) {
  const reports = apis.flatMap((api) => gateways.map((gateway) => ({ api, gateway, ends: [] as string[], strays: 0 })));
  const sessions = await newSessions(apis[0] as string, reports.length * each);
  const opening = sessions.map(async (session, index) => {
    const report = reports[index % reports.length] as (typeof reports)[number];
    return { session, report, stream: await openStream(report.gateway, session) };
  });
  const places = await Promise.all(opening);
  for (const [index, { session, report, stream }] of places.entries()) {
    const { status } = await apiAt(report.api).logOut(session, bearer(session));
    if (status !== 200) throw new Error(`the logout was answered ${status}`);
    const { code, reason } = await stream.closed;
    report.ends.push(`${code} ${reason}`);
    report.strays += places.slice(index + 1).filter((other) => !other.stream.isOpen()).length;
  }
  return reports;
}

export type IdleStreams = Awaited<ReturnType<typeof holdIdleStreams>>;

/** Opens streams at each target, on which neither side sends anything but the gateway's pings. */
export async function holdIdleStreams({ targets, each }: { targets: readonly Target[]; each: number }) {
  const opened = targets.map(async ({ api, push }) => {
    const sessions = await newSessions(api, each);
    const opening = sessions.map((session, index) =>
      openStream(push, session, index % 2 === 0 ? 'header' : 'subprotocol'),
    );
    return Promise.all(opening);
  });
  const streams = (await Promise.all(opened)).flat();
  const since = performance.now();
  const secondsUntil = (at: number) => Math.round((at - since) / 1_000);
  const ends: string[] = [];
  for (const { closed } of streams) {
    void closed.then(({ code, reason, at }) => ends.push(`${code} ${reason} after ${secondsUntil(at)} s`));
  }
  return {
    /** Reports on the streams, and ends them. */
    look() {
      const open = streams.filter((stream) => stream.isOpen()).length;
      const report = { open, ends: [...ends], seconds: secondsUntil(performance.now()) };
      for (const stream of streams) stream.terminate();
      return report;
    },
  };
}
