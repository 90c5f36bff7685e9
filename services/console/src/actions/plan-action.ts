import { createHash } from 'node:crypto';
import type { ForceLogoutQueue } from '@auth-account/messaging';
import { OperationError, type Operator, type Plan, type Use } from '@auth-account/operations';
import {
  planDelete,
  planDisable,
  planEnable,
  planExport,
  planFactorRemoval,
  planPasswordReset,
  planRemovalOfMethods,
  planResendOfCode,
  planRestore,
  planStopOfFactorRemoval,
  planUnlock,
} from '@auth-account/operations/accounts';
import {
  planDiscard,
  planReplay,
  planResumption,
  planRetry,
  planSuspension,
  showEvent,
} from '@auth-account/operations/events';
import { planRevocationOfInvite } from '@auth-account/operations/invites';
import { planEndSession, planEndSessions } from '@auth-account/operations/sessions';
import type { PlanRequest } from '../contract/requests.ts';
import type { ActionName } from '../contract/roles.ts';
import type { ConsoleDeps } from '../runtime/console-deps.ts';

/** An action on a target, in the name of the operator. */
export interface Order {
  readonly action: ActionName;
  readonly target: string;
  readonly options: NonNullable<PlanRequest['options']>;
}

type Context = ReturnType<typeof contextOf>;

interface Action {
  readonly targetKind: 'account' | 'session' | 'invite' | 'event' | 'subscriber';
  readonly plan: (context: Context, target: string, options: Order['options']) => Promise<Plan<object>> | Plan<object>;
}

const ofAccount = (plan: Action['plan']): Action => ({ targetKind: 'account', plan });
const ofSubscriber = (plan: Action['plan']): Action => ({ targetKind: 'subscriber', plan });

/** Every action, with the operation that carries it out. */
const actions: Readonly<Record<ActionName, Action>> = {
  'session.end': { targetKind: 'session', plan: (context, id) => planEndSession(context, id, context.logout) },
  'sessions.end_all': ofAccount((context, id) => planEndSessions(context, id, context.logout)),
  'code.resend': ofAccount(planResendOfCode),
  'limits.clear': ofAccount(planUnlock),
  'password.void': ofAccount(planPasswordReset),
  'factor_removal.order': ofAccount(planFactorRemoval),
  'factor_removal.stop': ofAccount(planStopOfFactorRemoval),
  'invite.revoke': {
    targetKind: 'invite',
    plan: (context, ref, { group_id }) =>
      planRevocationOfInvite(context, { ref, groupId: given(group_id, 'the group of the invite') }),
  },
  'deletion.cancel': ofAccount(planRestore),
  'deletion.order': ofAccount((context, id, { grace_days: graceDays = context.graceDays }) =>
    planDelete(context, id, { graceDays }),
  ),
  'methods.remove': ofAccount((context, id, { only }) => planRemovalOfMethods(context, id, { only })),
  'account.disable': ofAccount(planDisable),
  'account.enable': ofAccount(planEnable),
  'account.export': ofAccount(async (context, id) => {
    const plan = await planExport(context, id);
    return { ...plan, run: async () => ({ data: await plan.run() }) };
  }),
  'event.replay': {
    targetKind: 'event',
    async plan(context, id, { subscriber }) {
      await showEvent(context.stores, id);
      const plan = await planReplay(context, { eventIds: [id], subscriber });
      return refusedIf(plan, ({ replayed, skips }) => replayed === 0 && `It was not sent: ${skips[0]?.reason}.`);
    },
  },
  'dead_letter.discard': {
    targetKind: 'event',
    plan: (context, eventId, { subscriber }) =>
      planDiscard(context, { eventId, subscriber: given(subscriber, 'the subscriber of the dead letter') }),
  },
  'subscriber.suspend': ofSubscriber(async (context, name) =>
    refusedIf(await planSuspension(context, name), ({ parked }) => !parked && `${name} was suspended already.`),
  ),
  'subscriber.resume': ofSubscriber((context, name) =>
    refusedIf(planResumption(context, name), ({ resumed }) => !resumed && `${name} was not suspended.`),
  ),
  'subscriber.retry': ofSubscriber(planRetry),
};

/** A plan that was made for a member of staff, with the digest of what its question says. */
export interface PlannedAction extends Required<Plan<object>> {
  readonly digest: string;
}

/**
 * Plans an action, and changes nothing. The digest is the same for everybody for whom the question is the same. Throws
 * the operation's `OperationError`, `invalid` if an option is missing.
 */
export async function planAction(deps: ConsoleDeps, order: Order, operator: Operator): Promise<PlannedAction> {
  const { action, target, options } = order;
  const { question = '', run } = await actions[action].plan(contextOf(deps, operator), target, options);
  const content = JSON.stringify([action, target, Object.entries(options).sort(), question]);
  return { question, run, digest: createHash('sha256').update(content).digest('base64url') };
}

/** Creates the error for an action that would no longer do what was confirmed. */
export function planChanged(): OperationError {
  return new OperationError('changed', 'It has changed since you were asked. Look at it, and ask again.');
}

/** Returns the kind of the targets of an action. */
export function targetKindOf(action: ActionName): Action['targetKind'] {
  return actions[action].targetKind;
}

function contextOf(deps: ConsoleDeps, operator: Operator) {
  const { mongo, useRedis, useCounts, queue, maxTokenSeconds, logoutMs, config } = deps;
  const { reason, requestId } = operator;
  // Its failures are those of Redis.
  const useQueue: Use<ForceLogoutQueue> = (work) => useRedis(() => work(queue));
  return {
    ...{ ...mongo, useRedis, useCounts, useQueue, maxTokenSeconds, operator },
    logout: { reason, requestId, timeout: logoutMs },
    graceDays: config.ACCOUNT_DELETION_GRACE_DAYS,
  };
}

function given(option: string | undefined, what: string): string {
  if (option === undefined) throw new OperationError('invalid', `Name ${what}.`);
  return option;
}

/** Makes a result that changed nothing an error, because the page shows every result as a success. */
function refusedIf<T>(plan: Plan<T>, reasonOf: (result: T) => string | false): Plan<T> {
  const run = async () => {
    const result = await plan.run();
    const reason = reasonOf(result);
    if (reason) throw new OperationError('refused', reason);
    return result;
  };
  return { ...plan, run };
}
