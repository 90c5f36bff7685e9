import { type Operator, toOperationError } from '@auth-account/operations';
import type { ActionAnswer } from '../contract/action-answers.ts';
import { type ActionName, actionRoles, hasRightsOf } from '../contract/roles.ts';
import type { Staff, StaffRequest } from '../http/route.ts';
import type { ConsoleDeps } from '../runtime/console-deps.ts';
import { ConsoleError } from '../runtime/console-error.ts';
import type { Consent } from './consent-store.ts';
import { type Order, type PlannedAction, targetKindOf } from './plan-action.ts';

type Asked = StaffRequest<unknown>;

/** Returns the operator of an action that a member of staff asks for now, or asked for before another consented. */
export function operatorOf({ staff, reason, requestId, audit }: Asked, consent?: Consent): Operator {
  const asker = consent?.asker ?? staff;
  const beside = { operator_name: asker.name, ...(consent && consentFields(consent, staff)) };
  return {
    name: asker.subject,
    reason: consent?.reason ?? reason,
    requestId,
    audit: (line) => audit({ ...beside, ...line }),
  };
}

/** Throws a `ConsoleError` (`forbidden`), after an audit line, if the person's role lacks the right to the action. */
export function assertMay(deps: ConsoleDeps, request: Asked, order: Order): void {
  if (mayDo(request.staff, order.action)) return;
  deps.metrics.actions.inc({ action: order.action, outcome: 'refused' });
  note(request, order, { outcome: 'failure', error: 'forbidden' });
  throw new ConsoleError('forbidden', `The action ${order.action} needs the role ${actionRoles[order.action]}.`);
}

/** Returns true if the person's role has the right to the action. */
export function mayDo({ role }: Pick<Staff, 'role'>, action: ActionName): boolean {
  return hasRightsOf(role, actionRoles[action]);
}

/** Carries the action out, with an audit line and a count of how it ended. Throws what the plan's run throws. */
export async function runAction(
  { metrics }: ConsoleDeps,
  request: Asked,
  { order, plan, consent }: { readonly order: Order; readonly plan: PlannedAction; readonly consent?: Consent },
): Promise<ActionAnswer> {
  const { action } = order;
  const fields = consent && consentFields(consent, request.staff);
  try {
    const answer = toAnswer(await plan.run(), request.requestId);
    metrics.actions.inc({ action, outcome: 'done' });
    note(request, order, { outcome: 'success', ...fields });
    return answer;
  } catch (error) {
    const kind = toOperationError(error)?.kind ?? 'internal';
    metrics.actions.inc({ action, outcome: ['unavailable', 'internal'].includes(kind) ? 'failed' : 'refused' });
    note(request, order, { outcome: 'failure', error: kind, ...fields });
    throw error;
  }
}

/** Writes to the audit log what became of an action. Its options have no personal data. */
export function note(
  { audit }: Asked,
  { action, target, options }: Order,
  fields: { readonly outcome: 'success' | 'failure' | 'waiting' | 'refused' } & Readonly<Record<string, string>>,
): void {
  audit({ event: 'console.action', action, target_kind: targetKindOf(action), target, ...options, ...fields });
}

/** Returns the fields of the audit log about a consent that the person gives. */
function consentFields({ id, asker }: Consent, { subject }: Staff) {
  return { consent_id: id, asked_by: asker.subject, consented_by: subject };
}

type Fact = string | number | boolean | null;

/** Returns the result's facts as JSON. Lists and objects among them are no facts. */
function toAnswer(result: object, request_id: string): ActionAnswer {
  const { data, problem = null, request_id: _, ...others } = result as Record<string, unknown>;
  const facts = Object.entries(others).flatMap(([name, value]): [string, Fact][] => {
    if (value instanceof Date) return [[name, value.toISOString()]];
    return typeof value === 'object' && value !== null ? [] : [[name, value as Fact]];
  });
  const exported = data === undefined ? {} : { data };
  return {
    state: 'done',
    request_id,
    facts: Object.fromEntries(facts),
    ...exported,
    problem: problem as string | null,
  };
}
