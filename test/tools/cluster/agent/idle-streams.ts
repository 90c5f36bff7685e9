import type { StreamClient } from '../../../support/gateway/push-client.ts';
import type { IdleReport, StreamsOrder } from './protocol.ts';
import { newSessions, openStream } from './sessions.ts';

/** Streams on which neither side sends anything but the gateway's pings. */
export interface IdleStreams {
  look(): Promise<IdleReport>;
}

export async function holdIdleStreams({ api, push, streams }: StreamsOrder): Promise<IdleStreams> {
  const sessions = await newSessions(api, streams);
  const open = await Promise.all(
    sessions.map((session, index) => openStream(push, session, index % 2 === 0 ? 'header' : 'subprotocol')),
  );
  const since = performance.now();
  const ends = new Map<StreamClient, string>();
  for (const stream of open) {
    void stream.closed.then(({ code, reason, at }) =>
      ends.set(stream, `${code} ${reason} after ${((at - since) / 1_000).toFixed(0)} s`),
    );
  }
  return {
    async look() {
      const report = {
        open: open.filter((stream) => stream.isOpen()).length,
        ends: [...ends.values()],
        seconds: Math.round((performance.now() - since) / 1_000),
      };
      for (const stream of open) stream.terminate();
      return report;
    },
  };
}
