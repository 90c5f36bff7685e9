import { type CloseReason, closeCodes } from '@auth-account/contracts/push/close-codes';
import { handshakeErrors } from '@auth-account/contracts/push/stream-errors';
import { rowOf } from '@auth-account/errors';
import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { tokenFaults } from '@auth-account/verifier/access-token';
import { Counter, Gauge, Histogram } from 'prom-client';

export type PushMetrics = ReturnType<typeof createPushMetrics>;

/** Clients' close codes that are counted separately: normal closure, going away, no code given. */
export const clientCodes: readonly string[] = ['1000', '1001', '1005'];

/** Reasons of the closes that the gateway did not cause, with their codes. */
const foreignEnds: readonly (readonly [reason: string, code: string])[] = [
  ...[...clientCodes, 'other'].map((code) => ['CLIENT_CLOSED', code] as const),
  ...['IDLE', 'INVALID_UTF8', 'MESSAGE_TOO_BIG', 'CONNECTION_LOST'].map((reason) => [reason, '1006'] as const),
];

/** Error codes of refused authorization. */
export const authorizationCodes: readonly string[] = handshakeErrors.filter((code) =>
  [401, 403].includes(rowOf(code).http),
);

/** Creates the push gateway's own metrics. `openStreams` is read at each scrape. */
export function createPushMetrics({ registry }: Metrics, openStreams: () => number) {
  new Gauge({
    name: 'push_streams_open',
    help: 'Open push streams',
    registers: [registry],
    collect() {
      this.set(openStreams());
    },
  });
  return {
    ...createStreamMetrics(registry),
    ...createHandshakeMetrics(registry),
    ...createCloseMetrics(registry),
    ...createMessageMetrics(registry),
  };
}

function createStreamMetrics(registry: Metrics['registry']) {
  const registers = [registry];
  const closed = new Counter<'reason' | 'code'>({
    name: 'push_streams_closed_total',
    help: 'Push streams ended, by close code and reason: one of ours, CLIENT_CLOSED, or without a close frame (1006): IDLE, INVALID_UTF8, MESSAGE_TOO_BIG, CONNECTION_LOST',
    labelNames: ['reason', 'code'],
    registers,
  });
  for (const reason of Object.keys(closeCodes) as CloseReason[]) closed.inc({ reason, code: closeCodes[reason] }, 0);
  for (const [reason, code] of foreignEnds) closed.inc({ reason, code }, 0);
  return { closed, opened: new Counter({ name: 'push_streams_opened_total', help: 'Push streams opened', registers }) };
}

function createHandshakeMetrics(registry: Metrics['registry']) {
  const registers = [registry];
  return {
    refused: createZeroedCounter({
      registry,
      name: 'push_upgrades_refused_total',
      help: 'Handshakes answered with an error, by its code',
      values: { code: handshakeErrors },
    }),
    authorizationFailures: createZeroedCounter({
      registry,
      name: 'auth_authorization_failures_total',
      help: 'Handshakes refused with 401 or 403, and tokens that open streams did not take, by error code',
      values: { code: authorizationCodes },
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
    accessTokens: createZeroedCounter({
      registry,
      name: 'auth_access_tokens_total',
      help: 'Access tokens presented, by result: accepted, expired, or their first other fault: malformed, key (unknown), signature, issuer, audience, early (clocks), long (life), claims',
      values: { result: ['accepted', 'expired', ...tokenFaults] },
    }),
    tokenLookups: createZeroedCounter({
      registry,
      name: 'access_token_lookups_total',
      help: 'Access tokens looked at, by result: hit (verified before), miss',
      values: { result: ['hit', 'miss'] },
    }),
  };
}

/** Creates the metrics of commands, closes and reconciliation. */
function createCloseMetrics(registry: Metrics['registry']) {
  const registers = [registry];
  return {
    commands: createZeroedCounter({
      registry,
      name: 'push_commands_total',
      help: 'Commands received, by result: applied, ignored (no stream here), malformed',
      values: { result: ['applied', 'ignored', 'malformed'] },
    }),
    commandsLost: new Counter({
      name: 'push_commands_lost_total',
      help: 'Commands to the other gateways that could not be published',
      registers,
    }),
    closeLatency: new Histogram({
      name: 'push_close_latency_seconds',
      help: "Time from a close command's cause, just before its commit and by MongoDB's clock, to the close frame",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      enableExemplars: true,
      registers,
    }),
    closeRecordsLost: new Counter({
      name: 'push_close_records_lost_total',
      help: 'Records of closes, for tracing a logout, that could not be written',
      registers,
    }),
    reconcileRounds: createZeroedCounter({
      registry,
      name: 'push_reconcile_rounds_total',
      help: 'Reads of the deny list, by kind (recent, whole) and result (done, unavailable)',
      values: { kind: ['recent', 'whole'], result: ['done', 'unavailable'] },
    }),
    reconcileClosed: new Counter({
      name: 'push_reconcile_closed_total',
      help: 'Streams whose close command had been missed',
      registers,
    }),
  };
}

/** Creates the metrics of messages to apps. */
function createMessageMetrics(registry: Metrics['registry']) {
  return {
    messages: createZeroedCounter({
      registry,
      name: 'push_messages_total',
      help: 'Messages to apps, by result: delivered, ignored (no stream here), malformed, too_big, reserved (a topic of this service from another), overload',
      values: { result: ['delivered', 'ignored', 'malformed', 'too_big', 'reserved', 'overload'] },
    }),
    messageFrames: createZeroedCounter({
      registry,
      name: 'push_message_frames_total',
      help: 'Frames that messages became, by result: sent, gone (the stream had ended before its turn)',
      values: { result: ['sent', 'gone'] },
    }),
  };
}
