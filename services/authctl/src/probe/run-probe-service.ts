import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { runService, type ServiceContext, type ServiceParts } from '@auth-account/lifecycle';
import type { Logger } from '@auth-account/telemetry';
import type { Probe, ProbeReport } from './create-probe.ts';
import { probeConfig } from './probe-config.ts';
import { createProbeMetrics } from './probe-metrics.ts';

export interface ProbeServiceOptions {
  readonly probe: Probe;
  /** Addresses of the servers whose certificates are watched. */
  readonly urls: readonly string[];
  /** True if there is a database to clean up. */
  readonly canCleanUp: boolean;
  /** Milliseconds from the start of one run to the start of the next. A longer run delays the next. */
  readonly intervalMs: number;
  readonly now: () => Date;
}

/** Milliseconds that a run may take to end after the stop. The run waits for MongoDB for three seconds at most. */
const stopMs = 7_000;

/** Repeats the probe until the process gets a stop signal. Health checks and metrics are on `PROBE_OPS_PORT`. */
export function runProbeService(options: ProbeServiceOptions): Promise<void> {
  return runService({
    name: 'probe',
    schema: probeConfig,
    opsPort: (config) => config.PROBE_OPS_PORT,
    compose: (context) => compose(options, context),
  });
}

function compose(options: ProbeServiceOptions, context: ServiceContext<typeof probeConfig>): ServiceParts {
  const { logger } = context;
  const note = createProbeMetrics(context.metrics, options.now);
  const stopping = new AbortController();
  let ended: Promise<void> | undefined;
  return {
    readiness: [],
    async start() {
      if (!options.canCleanUp)
        logger.warn('MONGODB_URI is not set: accounts and events of the runs stay in the database');
      ended = repeat(options, stopping.signal, async (report) => {
        note(report, await findFirstEnd(options.urls));
        notify(logger, report);
      });
    },
    shutdown: [
      {
        name: 'probe',
        async run() {
          stopping.abort();
          await ended;
        },
        timeoutMs: stopMs,
      },
    ],
  };
}

async function repeat(
  { probe, intervalMs }: ProbeServiceOptions,
  stop: AbortSignal,
  onReport: (report: ProbeReport) => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    const begun = performance.now();
    const report = await probe(stop);
    // An interrupted run shows nothing about the system.
    if (report.ok || !stop.aborted) await onReport(report);
    const pauseMs = Math.max(0, begun + intervalMs - performance.now());
    // The delay rejects only if it is stopped.
    await delay(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

function notify(logger: Logger, { ok, request_id, steps, close, clean_up }: ProbeReport): void {
  const failed = steps.find((step) => !step.ok);
  const durations = Object.fromEntries(steps.map(({ step, ms }) => [`${step}_ms`, ms]));
  const facts = { request_id, ...durations, ...close, clean_up: clean_up.outcome, leftovers: clean_up.leftovers };
  if (ok) logger.info(facts, 'probe went well');
  else logger.error({ ...facts, step: failed?.step, fault: failed?.fault }, 'probe failed');
  if (clean_up.outcome === 'failed') logger.warn({ request_id, fault: clean_up.fault }, 'probe not cleaned up');
}

/** Limit in milliseconds for the handshake in which a certificate is read. */
const handshakeMs = 3_000;

/** Returns when the first of the servers' certificates ends; undefined if none is known. */
export async function findFirstEnd(urls: readonly string[], timeoutMs = handshakeMs): Promise<Date | undefined> {
  const ends = await Promise.all(urls.map((url) => findCertificateEnd(url, timeoutMs)));
  const known = ends.filter((end) => end !== undefined).map(Number);
  return known.length === 0 ? undefined : new Date(Math.min(...known));
}

/**
 * Returns when the certificate of an `https` or `wss` server ends; undefined for other URLs, and if there is no
 * handshake in time.
 */
async function findCertificateEnd(url: string, timeoutMs: number): Promise<Date | undefined> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'wss:') return undefined;
  const host = hostname.replace(/^\[|\]$/g, '');
  const servername = isIP(host) === 0 ? host : '';
  const { promise, resolve } = Promise.withResolvers<Date | undefined>();
  // Nothing is sent, so an expired certificate does no harm here, and its end is known too. The probe itself refuses it.
  const socket = connect({ host, port: Number(port || 443), servername, rejectUnauthorized: false });
  socket.setTimeout(timeoutMs, () => resolve(undefined));
  socket.once('secureConnect', () => resolve(new Date(socket.getPeerCertificate().valid_to)));
  socket.on('error', () => resolve(undefined));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
