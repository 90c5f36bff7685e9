import type { Metrics } from '@auth-account/telemetry';
import { Counter, Gauge, Histogram } from 'prom-client';

export type PushMetrics = ReturnType<typeof createPushMetrics>;

/** The push gateway's own metrics. `openStreams` is read at each scrape. */
export function createPushMetrics({ registry }: Metrics, openStreams: () => number) {
  const registers = [registry];
  new Gauge({
    name: 'push_streams_open',
    help: 'Open push streams',
    registers,
    collect() {
      this.set(openStreams());
    },
  });
  return {
    opened: new Counter({ name: 'push_streams_opened_total', help: 'Push streams opened', registers }),
    closed: new Counter({
      name: 'push_streams_closed_total',
      help: 'Push streams ended, by reason: one of ours, CLIENT_CLOSED, or CONNECTION_LOST (without a close frame)',
      labelNames: ['reason'],
      registers,
    }),
    refused: new Counter({
      name: 'push_upgrades_refused_total',
      help: 'Handshakes answered with an error, by its code',
      labelNames: ['code'],
      registers,
    }),
    aborted: new Counter({
      name: 'push_upgrades_aborted_total',
      help: 'Handshakes that the client gave up before their answer',
      registers,
    }),
    lost: new Counter({
      name: 'push_upgrades_lost_total',
      help: 'Sockets that uWebSockets.js lost while it opened them',
      registers,
    }),
    commands: new Counter({
      name: 'push_commands_total',
      help: 'Commands received, by result: applied, ignored (no stream here), malformed',
      labelNames: ['result'],
      registers,
    }),
    commandsLost: new Counter({
      name: 'push_commands_lost_total',
      help: 'Commands to the other gateways that could not be published',
      registers,
    }),
    closeLatency: new Histogram({
      name: 'push_close_latency_seconds',
      help: "Time from a close command's cause (by the deciding host's clock) to the close frame",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    reconcileRounds: new Counter({
      name: 'push_reconcile_rounds_total',
      help: 'Looks at the deny list, by kind (recent, whole) and result (done, unavailable)',
      labelNames: ['kind', 'result'],
      registers,
    }),
    reconcileClosed: new Counter({
      name: 'push_reconcile_closed_total',
      help: 'Streams whose close command had been missed',
      registers,
    }),
  };
}
