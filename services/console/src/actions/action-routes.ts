import type { ActionAnswer, PlanAnswer } from '../contract/action-answers.ts';
import { ActionRequest, PlanRequest } from '../contract/requests.ts';
import { type Route, route, type StaffRequest } from '../http/route.ts';
import type { ConsoleDeps } from '../runtime/console-deps.ts';
import { consentRoutes, viewOf } from './consent-routes.ts';
import { createConsentStore } from './consent-store.ts';
import { type Order, planAction, planChanged } from './plan-action.ts';
import { assertMay, note, operatorOf, runAction } from './run-action.ts';

/**
 * The routes by which staff change something. The role for an action is checked here, by the table of actions: a route's
 * own role is the least that any of them needs.
 */
export function actionRoutes(deps: ConsoleDeps): Route[] {
  const consents = createConsentStore(deps.useRedis, () => deps.now().getTime());
  const needsConsent = ({ action }: Order) => deps.config.CONSOLE_FOUR_EYES.includes(action);

  async function plan(request: StaffRequest<PlanRequest>): Promise<PlanAnswer> {
    const order = orderOf(request.body);
    assertMay(deps, request, order);
    const { question, digest } = await planAction(deps, order, operatorOf(request));
    return { question, digest, needs_consent: needsConsent(order) };
  }

  async function act(request: StaffRequest<ActionRequest>): Promise<ActionAnswer> {
    const order = orderOf(request.body);
    const { digest } = request.body;
    assertMay(deps, request, order);
    const planned = await planAction(deps, order, operatorOf(request));
    if (planned.digest !== digest) throw planChanged();
    if (!needsConsent(order)) return await runAction(deps, request, { order, plan: planned });
    const { reason, staff } = request;
    const { subject, name } = staff;
    const consent = await consents.ask({ ...order, digest, reason, asker: { subject, name } });
    deps.metrics.consents.inc({ outcome: 'asked' });
    note(request, order, { outcome: 'waiting', consent_id: consent.id });
    return { state: 'waiting', consent: viewOf(request, consent, { plan: planned }) };
  }

  return [
    route({
      ...{ method: 'POST', path: '/api/plans', role: 'support', kind: 'looked_at' },
      ...{ body: PlanRequest, answer: plan },
    }),
    route({
      ...{ method: 'POST', path: '/api/actions', role: 'support', kind: 'changes' },
      ...{ body: ActionRequest, answer: act },
    }),
    ...consentRoutes(deps, consents),
  ];
}

function orderOf({ action, target, options = {} }: PlanRequest): Order {
  return { action, target, options };
}
