import type { ForceLogoutCommand } from '@auth-account/contracts';
import { type ForceLogoutResult, parseForceLogout } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';
import { type Job, UnrecoverableError } from 'bullmq';
import type { WorkerMetrics } from '../jobs/metrics.ts';

export interface ForceLogoutJobDeps {
  readonly forceLogout: (command: ForceLogoutCommand, commandId: string) => Promise<ForceLogoutResult>;
  readonly metrics: Pick<WorkerMetrics, 'forceLogouts'>;
  readonly logger: Logger;
}

type ForceLogoutJob = Pick<Job<unknown>, 'id' | 'data' | 'timestamp' | 'attemptsMade'>;

/**
 * Makes the processor of the forced-logout queue; its result stays with the job. Throws what the command's work threw, to
 * be tried again, and `UnrecoverableError` for a malformed command, which says what is wrong with it and is never tried
 * again.
 */
export function createForceLogoutJob({ forceLogout, metrics, logger }: ForceLogoutJobDeps) {
  function read(job: ForceLogoutJob): ForceLogoutCommand {
    try {
      return parseForceLogout(job.data);
    } catch (error) {
      metrics.forceLogouts.inc({ outcome: 'malformed' });
      logger.error({ err: error, job_id: job.id }, 'forced logout not understood: it is not tried again');
      throw Object.assign(new UnrecoverableError((error as Error).message), { cause: error });
    }
  }

  return async (job: ForceLogoutJob): Promise<ForceLogoutResult> => {
    const command = read(job);
    const context = { job_id: job.id, command };
    try {
      const result = await forceLogout(command, commandIdOf(job));
      metrics.forceLogouts.inc({ outcome: result.kind });
      logger.info({ ...context, ...result }, 'forced logout');
      return result;
    } catch (error) {
      metrics.forceLogouts.inc({ outcome: 'failed' });
      logger.warn({ ...context, err: error, attempt: job.attemptsMade + 1 }, 'forced logout failed: it is tried again');
      throw error;
    }
  };
}

/** BullMQ numbers jobs without an id, and begins again with 1 in a Redis that was emptied. */
function commandIdOf({ id = '', timestamp }: ForceLogoutJob): string {
  return /^\d*$/.test(id) ? `${id}-${timestamp}` : id;
}
