/** Steps of the main path, in their order. */
const mainSteps = ['register', 'login', 'open', 'logout', 'close'] as const;

/** Steps of the path through a mailbox, which follow the main path. */
export const mailSteps = [
  ...(['reset', 'reset_mail', 'reset_confirm', 'login_again'] as const),
  ...(['deletion', 'deletion_mail', 'deletion_confirm'] as const),
] as const;

export const probeSteps = [...mainSteps, ...mailSteps] as const;
export type ProbeStep = (typeof probeSteps)[number];

export interface StepReport {
  readonly step: ProbeStep;
  readonly ok: boolean;
  readonly ms: number;
  /** Reason why the answer violates the contract, if it does. */
  readonly fault?: string;
}

/** The system did not answer, or violated its contract, so the run ends. The message holds no secret. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';
}

/** Runs a step and records its outcome; throws what the step threw. */
export type TakeStep = <T>(step: ProbeStep, work: () => Promise<T>) => Promise<T>;

/** Creates the log of one run. */
export function createStepLog(): { readonly reports: readonly StepReport[]; readonly take: TakeStep } {
  const reports: StepReport[] = [];
  return {
    reports,
    async take(step, work) {
      const begun = performance.now();
      const ms = () => Math.round((performance.now() - begun) * 10) / 10;
      try {
        const result = await work();
        reports.push({ step, ok: true, ms: ms() });
        return result;
      } catch (error) {
        if (error instanceof ProbeFailure) reports.push({ step, ok: false, ms: ms(), fault: error.message });
        throw error;
      }
    },
  };
}
