import { randomUUID } from 'node:crypto';
import { MongoError } from 'mongodb';
import type { Shell } from '../cli/shell.ts';
import { toFailure } from '../cli/to-failure.ts';
import { withMongo } from '../compose.ts';
import { type CleanUpReport, cleanUp, type Traces } from './clean-up.ts';
import { newCredentials, newRequestId } from './probe-accounts.ts';
import type { MailPlan, ProbePlan } from './probe-plan.ts';
import type { StepReport } from './step-log.ts';
import { type CloseTime, walkPath } from './walk-path.ts';

/** One run of the probe; holds no secret. */
export interface ProbeReport {
  /** True if every step went as the contract says. The cleanup does not count. */
  readonly ok: boolean;
  readonly request_id: string;
  readonly steps: readonly StepReport[];
  readonly close: CloseTime | null;
  readonly clean_up: CleanUpReport;
}

/** Runs the probe once. `stop` interrupts the path, but the data that the run has left are still cleaned up. */
export type Probe = (stop: AbortSignal) => Promise<ProbeReport>;

/**
 * Creates a probe. As long as its runs leave nothing behind, it registers the same email address again and again. New
 * ones would add up in Redis, because the api remembers for 180 days from which network an account has logged in.
 */
export function createProbe(shell: Shell, plan: ProbePlan): Probe {
  const deviceId = randomUUID();
  let fresh = newCredentials(plan.emailDomain);
  let nextMailAt = performance.now();

  /** Returns the plan for mails if a run with mails is due. */
  function takeMailPlan(): MailPlan | undefined {
    if (plan.mail === undefined || performance.now() < nextMailAt) return;
    nextMailAt = performance.now() + plan.mail.everyMs;
    return plan.mail;
  }

  async function cleanUpAfter(traces: Traces, stop: AbortSignal): Promise<CleanUpReport> {
    if (!plan.canCleanUp) return { outcome: 'skipped', leftovers: 0 };
    try {
      return await withMongo(shell, (mongo) => cleanUp(mongo, traces, { plan, stop, now: shell.now }));
    } catch (error) {
      if (!(error instanceof MongoError)) throw error;
      return { outcome: 'failed', leftovers: 0, fault: toFailure(error).message };
    }
  }

  return async (stop) => {
    const requestId = newRequestId();
    const isNew = plan.account === undefined;
    const mail = takeMailPlan();
    // Each run with mails takes a new email address, because the limit for an address's codes
    // (`CODE_LIMIT_PER_ACCOUNT`) outlives the account.
    if (mail !== undefined) fresh = newCredentials(plan.emailDomain);
    const credentials = plan.account ?? fresh;
    const walk = await walkPath({ plan, credentials, isNew, mail, deviceId, requestId, stop });
    const email = isNew ? credentials.email : undefined;
    const clean_up = await cleanUpAfter({ requestId, email, sessionId: walk.sessionId }, stop);
    if (!isOver(walk.steps, clean_up)) fresh = newCredentials(plan.emailDomain);
    return { ok: walk.ok, request_id: requestId, steps: walk.steps, close: walk.close ?? null, clean_up };
  };
}

/**
 * Returns true if the email address is certainly free again. A failed registration may take effect even after the
 * cleanup.
 */
function isOver(steps: readonly StepReport[], { outcome }: CleanUpReport): boolean {
  const isRegistered = steps.some(({ step, ok }) => step === 'register' && ok);
  return isRegistered && (outcome === 'done' || outcome === 'waiting');
}
