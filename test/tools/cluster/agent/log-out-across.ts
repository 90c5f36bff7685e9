import { bearer } from '../../../support/api/api-driver.ts';
import type { StreamClient } from '../../../support/gateway/push-client.ts';
import { apiAt } from './ask.ts';
import { newSessions, openStream, type Session } from './sessions.ts';

interface AcrossOrder {
  /** URLs of individual pods. */
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  /** Number of logouts through each api of streams on each gateway. */
  readonly each: number;
}

interface Place {
  readonly api: string;
  readonly gateway: string;
  readonly session: Session;
  readonly stream: StreamClient;
}

/**
 * Opens streams on every gateway pod, then logs each out through a given api pod, one after another. Does not use the
 * client of apps, because that closes its stream itself, and here the gateway's close is timed. Reports for each pair of
 * pods the milliseconds from the request to the close frame, the ends, and the number of other streams that closed.
 */
export async function logOutAcross({ apis, gateways, each }: AcrossOrder) {
  const pairs = apis.flatMap((api) => gateways.map((gateway) => ({ api, gateway })));
  const sessions = await newSessions(apis[0] as string, pairs.length * each);
  const places = await Promise.all(
    sessions.map(async (session, index): Promise<Place> => {
      const { api, gateway } = pairs[index % pairs.length] as { api: string; gateway: string };
      return { api, gateway, session, stream: await openStream(gateway, session) };
    }),
  );
  const reports = pairs.map((pair) => ({ ...pair, closeMs: [] as number[], ends: [] as string[], strays: 0 }));
  for (const [index, place] of places.entries()) {
    const report = reports[index % pairs.length] as (typeof reports)[number];
    report.closeMs.push(await logOut(place));
    const { code, reason } = await place.stream.closed;
    report.ends.push(`${code} ${reason}`);
    report.strays += places.slice(index + 1).filter(({ stream }) => !stream.isOpen()).length;
  }
  return reports;
}

async function logOut({ api, session, stream }: Place): Promise<number> {
  const start = performance.now();
  const { status } = await apiAt(api).logOut(session, bearer(session));
  if (status !== 200) throw new Error(`the logout was answered ${status}`);
  return (await stream.closed).at - start;
}
