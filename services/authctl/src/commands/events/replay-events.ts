import { OperationError } from '@auth-account/operations';
import { type EventContext, planReplay, type ReplayOptions } from '@auth-account/operations/events';
import { exitCodes } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';

interface GivenOptions extends Omit<ReplayOptions, 'eventIds'> {
  readonly yes?: true | undefined;
  readonly dryRun?: true | undefined;
}

/** Sends events again, after a confirmation, or only counts them. */
export async function replayEvents(
  context: EventContext,
  eventIds: readonly string[],
  { yes, dryRun, ...options }: GivenOptions,
  shell: Shell,
): Promise<Outcome> {
  const plan = await planReplay(context, { ...options, eventIds });
  const { selected, gap } = plan;
  const remarks = explainGap(gap);
  const spell = (text: string) => [...remarks, text].join('\n');
  if (dryRun) return { json: { selected, dry_run: true, ...gap }, text: spell(`Would be sent again: ${selected}`) };
  const sent = await shell.carryOut(plan, { yes, remarks }).catch((error: unknown) => {
    throw error instanceof OperationError ? new OperationError(error.kind, spell(error.message)) : error;
  });
  const skips = sent.skips.map(({ event_id, reason, waiting_for }) => {
    const retries = waiting_for.map((name) => `authctl events retry ${name}`).join('; ');
    return { event_id, reason: retries === '' ? reason : `${reason}: ${retries}` };
  });
  const { skips: _, ...counts } = sent;
  const why = skips.map(({ event_id, reason }) => [event_id, reason]);
  const text = [fieldList(counts), ...(why.length === 0 ? [] : [table(['skipped', 'reason'], why)])].join('\n\n');
  return { json: { ...sent, skips }, text, exitCode: sent.replayed === 0 ? exitCodes.negative : exitCodes.ok };
}

function explainGap({ incomplete_before }: { readonly incomplete_before?: Date }): string[] {
  if (incomplete_before === undefined) return [];
  return [`--since is too early: what was delivered before ${incomplete_before.toISOString()} is no longer kept.`];
}
