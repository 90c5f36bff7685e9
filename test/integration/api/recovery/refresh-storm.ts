import type { TokenPair } from '../../../support/api/accounts.ts';
import { type ApiDriver, drive } from '../../../support/api/api-driver.ts';
import { keepConnections } from '../../../support/http-client.ts';

type Tokens = Pick<TokenPair, 'refresh_token'>;

/** Sessions that are refreshed as fast as the api answers, each by one request at a time. */
export interface RefreshStorm {
  /** Number of refreshes that were answered with new tokens. */
  readonly refreshed: number;
  /** Statuses of all answers, each once. */
  readonly statuses: ReadonlySet<number>;
  /** Stops refreshing, and waits for the requests under way. */
  stop(): Promise<void>;
}

/** Begins to refresh the sessions. A session whose token is refused with 401 is refreshed no more. */
export function startRefreshStorm({ send }: ApiDriver, sessions: readonly Tokens[]): RefreshStorm {
  const agent = keepConnections({ maxSockets: sessions.length });
  const api = drive((request) => send({ ...request, agent }));
  const statuses = new Set<number>();
  let refreshed = 0;
  let isStopped = false;

  async function refresh({ refresh_token: first }: Tokens): Promise<void> {
    let refresh_token = first;
    while (!isStopped) {
      const { status, json } = await api.refreshTokens({ refresh_token });
      statuses.add(status);
      if (status === 401) return;
      if (status !== 200) continue;
      refreshed += 1;
      refresh_token = json.data.refresh_token;
    }
  }

  const running = Promise.all(sessions.map(refresh));
  return {
    get refreshed() {
      return refreshed;
    },
    statuses,
    async stop() {
      isStopped = true;
      await running;
      agent.destroy();
    },
  };
}
