import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { Gauge, Histogram } from 'prom-client';
import type { CleanUpReport } from './clean-up.ts';
import type { ProbeReport } from './create-probe.ts';
import { mailSteps, type ProbeStep, probeSteps, type StepReport } from './step-log.ts';

const cleanUps: readonly CleanUpReport['outcome'][] = ['done', 'waiting', 'skipped', 'failed'];

const isMailStep = ({ step }: StepReport) => mailSteps.some((one) => one === step);

/** Records a finished run, and when the first of the certificates ends, if that is known. */
export type NoteRun = (report: ProbeReport, certificateEnd: Date | undefined) => void;

/** Creates the probe's metrics, and returns the function that records a finished run. */
export function createProbeMetrics({ registry }: Metrics, now: () => Date): NoteRun {
  const registers = [registry];
  const success = new Gauge({
    name: 'auth_probe_success',
    help: '1 if the main path of the last run went well, else 0',
    registers,
  });
  const mailSuccess = new Gauge({
    name: 'auth_probe_mail_success',
    help: '1 if password reset and deletion went well in the last run that came to them (`--with-mail`), else 0',
    registers,
  });
  const closeTime = new Gauge({
    name: 'auth_probe_close_seconds',
    help: "From the logout's request to the close of its stream, in the last run that came so far",
    registers,
  });
  const lastRun = new Gauge({
    name: 'auth_probe_last_run_timestamp_seconds',
    help: 'When the last run ended; before the first one: when the probe started',
    registers,
  });
  const certificateEnd = new Gauge({
    name: 'auth_probe_certificate_end_timestamp_seconds',
    help: 'When the certificate of the api or, if the canary has its URL, of the push gateway ends: the earlier one',
    registers,
  });
  const steps = new Histogram<'step'>({
    name: 'auth_probe_step_duration_seconds',
    help: 'Duration of the steps, failed ones too; `close` counts from the answer to the logout',
    labelNames: ['step'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const zeroed = <L extends string>(name: string, help: string, values: Record<L, readonly string[]>) =>
    createZeroedCounter({ registry, name, help, values });
  const runs = zeroed('auth_probe_runs_total', 'Runs that ended', { outcome: ['success', 'failure'] });
  const cleanings = zeroed(
    'auth_probe_clean_ups_total',
    'Data that a run left: none (done), its event (waiting), all without a database (skipped) or because MongoDB failed (failed)',
    { outcome: cleanUps },
  );
  success.set(Number.NaN);
  mailSuccess.set(Number.NaN);
  closeTime.set(Number.NaN);
  certificateEnd.set(Number.NaN);
  lastRun.set(now().getTime() / 1_000);
  for (const step of probeSteps) steps.zero({ step } satisfies { step: ProbeStep });

  return ({ ok, steps: taken, close, clean_up }, end) => {
    success.set(close === null ? 0 : 1);
    if (taken.some(isMailStep)) mailSuccess.set(ok ? 1 : 0);
    if (close) closeTime.set(close.since_request_ms / 1_000);
    lastRun.set(now().getTime() / 1_000);
    if (end) certificateEnd.set(end.getTime() / 1_000);
    for (const { step, ms } of taken) steps.observe({ step }, ms / 1_000);
    runs.inc({ outcome: ok ? 'success' : 'failure' });
    cleanings.inc({ outcome: clean_up.outcome });
  };
}
