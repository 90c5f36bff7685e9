import { rememberBinary } from './present-server-steps.ts';
import type { Provided, ProvisionContext, ProvisionStep, StepResult } from './provision-step.ts';

/** Says that no source provided the part. The message lists each source with its reason, and says what to install. */
export class ProvisionError extends Error {
  override readonly name = 'ProvisionError';
}

export interface Part {
  /** Name of the part, such as "MongoDB". Every line begins with it. */
  readonly name: string;
  /** Advice for the user when every step has failed. */
  readonly advice: string;
}

/**
 * Tries the steps in their order until one provides the part, and prints a line for each. A step that throws counts as
 * missing, with the error's message as the reason. Throws `ProvisionError` if every step has failed, or if the program
 * that the user has chosen can't be used.
 */
export async function runSteps(
  part: Part,
  steps: readonly ProvisionStep[],
  context: ProvisionContext,
): Promise<Provided> {
  const reasons: string[] = [];
  for (const step of steps) {
    context.signal?.throwIfAborted();
    const result = await attempt(step, context);
    if (!('missing' in result)) return accept(part, step, result, context);
    context.log(`${part.name}: ${step.title}? no${result.missing ? ` (${result.missing})` : ''}`);
    if (step.isChoice && result.missing) throw new ProvisionError(`${part.name}: ${step.title}, but ${result.missing}`);
    reasons.push(`  - ${step.title}: ${result.missing || 'no'}`);
  }
  throw new ProvisionError(`${part.name} cannot be provided.\n${reasons.join('\n')}\n${part.advice}`);
}

async function accept(
  { name }: Part,
  { title, isChoice }: ProvisionStep,
  provided: Provided,
  { log, cacheDir }: ProvisionContext,
): Promise<Provided> {
  log(`${name}: ${title}? yes${'binary' in provided ? `, ${provided.binary}` : ''}`);
  if ('binary' in provided && !isChoice) await rememberBinary(name, provided.binary, cacheDir);
  return provided;
}

async function attempt(step: ProvisionStep, context: ProvisionContext): Promise<StepResult> {
  try {
    return await step.run(context);
  } catch (error) {
    return { missing: error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error) };
  }
}
