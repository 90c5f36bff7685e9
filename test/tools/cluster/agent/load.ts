import { password } from '../../../support/api/accounts.ts';
import { bearer, type Operations } from '../../../support/api/api-driver.ts';
import { type Agent, keepConnections } from '../../../support/http-client.ts';
import { apiAt, type Reply } from './ask.ts';
import { newSessions, type Session } from './sessions.ts';

export interface LoadOrder {
  readonly api: string;
  readonly perSecond: number;
  readonly users: number;
}

/** A steady load that goes on until it is stopped. */
export type Load = Awaited<ReturnType<typeof startLoad>>;
export type LoadReport = Awaited<ReturnType<Load['look']>>;

/** An account, whose requests run one after another, as an app's do. */
interface User {
  session: Session;
  readonly kept: Agent;
  line: Promise<void>;
}

const newFigures = () => ({
  since: performance.now(),
  requests: 0,
  /** Numbers of failures, by kind. */
  failures: {} as Record<string, number>,
  /** Times of the first failures, in seconds since the last look. */
  failedAt: [] as string[],
});

const loginEvery = 20;

/**
 * Sends refreshes, reads of the sessions and, one in twenty, logins, at a fixed rate that does not depend on the
 * answers. Half of the requests use connections that the users keep, and half use new ones. No request is retried, so
 * the client of apps, which retries, is not used. A failure is a connection that broke, ten seconds without an answer,
 * or any other status than 200.
 */
export async function startLoad({ api, perSecond, users: count }: LoadOrder) {
  const users = (await newSessions(api, count)).map(
    (session): User => ({ session, kept: keepConnections({ maxSockets: 1 }, api), line: Promise.resolve() }),
  );
  let figures = newFigures();
  let sent = 0;

  function sendNext(): void {
    const user = users[sent % users.length] as User;
    // Each user alternates between kept and new connections.
    const isKept = Math.floor(sent / users.length) % 2 === 0;
    const work = chooseWork(sent);
    sent += 1;
    user.line = user.line.then(() => run(user, work, isKept));
  }

  async function run(user: User, work: Work, isKept: boolean): Promise<void> {
    const kind = `${work} over a ${isKept ? 'kept' : 'new'} connection`;
    const start = performance.now();
    figures.requests += 1;
    try {
      const reply = await works[work](apiAt(api, isKept ? user.kept : undefined), user.session);
      if (reply.status !== 200) note(`${kind}: ${reply.status} ${reply.json?.error_code ?? ''}`, start);
      else if (reply.json.data.refresh_token) user.session = { ...user.session, ...reply.json.data };
    } catch (error) {
      const { message, requestId } = error as Error & { readonly requestId?: string };
      note(`${kind}: ${message}`, start, requestId);
    }
  }

  function note(what: string, start: number, requestId = ''): void {
    figures.failures[what] = (figures.failures[what] ?? 0) + 1;
    if (figures.failedAt.length < 10) {
      const from = ((start - figures.since) / 1_000).toFixed(1);
      const to = ((performance.now() - figures.since) / 1_000).toFixed(1);
      figures.failedAt.push(`${from} to ${to} s: ${what} ${requestId}`);
    }
  }

  /** Waits for requests under way, and returns the results since the last look. No request falls between two looks. */
  async function look() {
    await Promise.all(users.map(({ line }) => line));
    const { since, ...seen } = figures;
    figures = newFigures();
    const failed = Object.values(seen.failures).reduce((sum, times) => sum + times, 0);
    return { ...seen, perSecond, failed, seconds: Math.round((performance.now() - since) / 100) / 10 };
  }

  const begin = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - begin) / 1_000) * perSecond;
    while (sent < due) sendNext();
  }, 5);
  return {
    look,
    async stop() {
      clearInterval(timer);
      const report = await look();
      for (const { kept } of users) kept.destroy();
      return report;
    },
  };
}

const works = {
  login: (api, { email, device_id }) => api.logIn({ email, password, device_id }),
  refresh: (api, { refresh_token }) => api.refreshTokens({ refresh_token }),
  sessions: (api, session) => api.listSessions(bearer(session)),
} satisfies Record<string, (api: Operations<Reply>, session: Session) => Promise<Reply>>;
type Work = keyof typeof works;

/** Spreads the actions by a multiplier that is coprime to the number of users, so that each user does everything. */
function chooseWork(index: number): Work {
  const turn = (index * 7) % loginEvery;
  if (turn === 0) return 'login';
  return turn % 2 === 0 ? 'refresh' : 'sessions';
}
