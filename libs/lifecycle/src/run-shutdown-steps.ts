import type { Logger } from '@auth-account/telemetry';
import { withTimeLimit } from './with-time-limit.ts';

/** One step of an orderly shutdown. */
export interface ShutdownStep {
  readonly name: string;
  readonly run: () => void | Promise<void>;
  /** What the step may take, in ms. */
  readonly timeoutMs: number;
}

async function runStep(step: ShutdownStep, limitMs: number, logger: Logger): Promise<boolean> {
  const start = performance.now();
  const took = () => Math.round(performance.now() - start);
  try {
    await withTimeLimit(limitMs, step.run);
    logger.info({ step: step.name, ms: took() }, 'shutdown step done');
    return true;
  } catch (error) {
    logger.error({ step: step.name, ms: took(), limitMs, err: error }, 'shutdown step failed');
    return false;
  }
}

/**
 * Runs the steps one after another. A step that fails, or hangs past its limit, is logged and does not keep the next
 * from running. Together they take `budgetMs` at most: past that, what is left is begun but not waited for.
 *
 * @returns whether every step ended well
 */
export async function runShutdownSteps(
  steps: readonly ShutdownStep[],
  budgetMs: number,
  logger: Logger,
): Promise<boolean> {
  const deadline = performance.now() + budgetMs;
  let ok = true;
  for (const step of steps) {
    const left = Math.max(0, Math.round(deadline - performance.now()));
    ok = (await runStep(step, Math.min(step.timeoutMs, left), logger)) && ok;
  }
  return ok;
}
