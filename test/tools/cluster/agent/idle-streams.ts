import { newSessions, openStream, type Target } from './sessions.ts';

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
