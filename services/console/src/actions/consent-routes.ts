import { OperationError } from '@auth-account/operations';
import type { ActionAnswer, ConsentView } from '../contract/action-answers.ts';
import { GiveRequest } from '../contract/requests.ts';
import { type Route, route, type StaffRequest } from '../http/route.ts';
import type { ConsoleDeps } from '../runtime/console-deps.ts';
import { ConsoleError } from '../runtime/console-error.ts';
import { type Consent, type ConsentState, type ConsentStore, consentLifeMs } from './consent-store.ts';
import { type PlannedAction, planAction, planChanged } from './plan-action.ts';
import { assertMay, mayDo, note, operatorOf, runAction } from './run-action.ts';

/** The routes by which a second person consents to an action or refuses it. */
export function consentRoutes(deps: ConsoleDeps, consents: ConsentStore): Route[] {
  /** Makes the plan again; undefined if the operation has become impossible. */
  async function planAgain(request: StaffRequest, consent: Consent): Promise<PlannedAction | undefined> {
    try {
      return await planAction(deps, consent, operatorOf(request, consent));
    } catch (error) {
      if (error instanceof OperationError && error.kind !== 'unavailable') return undefined;
      throw error;
    }
  }

  async function show(request: StaffRequest): Promise<ConsentView> {
    const { consent, state } = await consents.load(request.params.id ?? '');
    const isOpen = state === 'waiting' && mayDo(request.staff, consent.action);
    return viewOf(request, consent, { state, plan: isOpen ? await planAgain(request, consent) : undefined });
  }

  async function give(request: StaffRequest<GiveRequest>): Promise<ActionAnswer> {
    const { consent, state } = await consents.load(request.params.id ?? '');
    assertMay(deps, request, consent);
    if (isOwn(request, consent)) throw new ConsoleError('forbidden', 'Another person must consent.');
    if (state !== 'waiting') throw settledAlready();
    const asker = await deps.roleOf(consent.asker);
    if (asker === undefined || !mayDo({ role: asker }, consent.action)) throw askerLeft();
    const plan = await planAction(deps, consent, operatorOf(request, consent));
    // What was shown to this person counts, not what the other one saw: a login in between changes the question, and
    // whoever uses the account could prevent every consent by logging in.
    if (request.body.digest !== plan.digest) throw planChanged();
    if (!(await consents.settle(consent.id, 'given'))) throw settledAlready();
    deps.metrics.consents.inc({ outcome: 'given' });
    return await runAction(deps, request, { order: consent, plan, consent });
  }

  async function refuse(request: StaffRequest): Promise<ConsentView> {
    const { consent } = await consents.load(request.params.id ?? '');
    if (!isOwn(request, consent)) assertMay(deps, request, consent);
    if (!(await consents.settle(consent.id, 'refused'))) throw settledAlready();
    deps.metrics.consents.inc({ outcome: 'refused' });
    const { id: consent_id, asker } = consent;
    note(request, consent, { outcome: 'refused', consent_id, asked_by: asker.subject });
    return viewOf(request, consent, { state: 'refused' });
  }

  return [
    route({
      ...{ method: 'GET', path: '/api/consents', role: 'viewer', kind: 'plain' },
      answer: async (request) => (await consents.list()).map((consent) => viewOf(request, consent)),
    }),
    route({ method: 'GET', path: '/api/consents/:id', role: 'viewer', kind: 'looked_at', answer: show }),
    route({
      ...{ method: 'POST', path: '/api/consents/:id/give', role: 'support', kind: 'changes' },
      ...{ body: GiveRequest, answer: give },
    }),
    route({ method: 'POST', path: '/api/consents/:id/refuse', role: 'support', kind: 'changes', answer: refuse }),
  ];
}

interface Shown {
  readonly state?: ConsentState | undefined;
  /** The plan of now, for a reader who may consent. Lists have none, because its question is personal data. */
  readonly plan?: PlannedAction | undefined;
}

/** Returns a consent as the reader may see it. */
export function viewOf(request: StaffRequest<unknown>, consent: Consent, { state = 'waiting', plan }: Shown = {}) {
  const { id, action, target, options, reason, asker, askedAt } = consent;
  return {
    ...{ consent_id: id, action, target, options, reason, state },
    ...{ question: plan?.question ?? '', digest: plan?.digest ?? '' },
    asked_by: asker.name,
    is_own: isOwn(request, consent),
    asked_at: new Date(askedAt).toISOString(),
    expires_at: new Date(askedAt + consentLifeMs).toISOString(),
  } satisfies ConsentView;
}

/** The provider's id counts, so that nobody consents to their own action in another session or role. */
function isOwn({ staff }: StaffRequest<unknown>, { asker }: Consent): boolean {
  return staff.subject === asker.subject;
}

/** Creates the error for an action in the name of a person who could not take it any more. */
function askerLeft(): OperationError {
  return new OperationError('refused', 'Whoever asked has no session any more, or no right to it.');
}

function settledAlready(): OperationError {
  return new OperationError('refused', 'It was given or refused already.');
}
