import { type ClientGroup, methodsOf, renewClaims } from '../calls/client-group.ts';
import { type StepUpMethods, stepUpMethods } from '../generated/methods.ts';
import type { OperationTypes } from '../generated/operation-types.ts';

type Challenge = OperationTypes['createStepUpChallenge']['data'];
type Purpose = OperationTypes['createStepUpChallenge']['body']['purpose'];
type Proof = Omit<OperationTypes['confirmStepUp']['body'], 'challenge_id'>;

export interface StepUp {
  /**
   * Lets the user prove once more who is there. Calls `prove` with the challenge, and sends the proof that it returns.
   * The result is for the body of the operation that the purpose names, and counts once, for five minutes. For the
   * purpose `session` it is empty, and the client's next access token has the new proof.
   *
   * Raises what `prove` raises, and the codes of the operations. A wrong proof is not asked for again: to let the user
   * correct it under the same challenge, call `stepUp.confirm`.
   */
  readonly stepUp: StepUpMethods &
    ((purpose: Purpose, prove: (challenge: Challenge) => Proof | Promise<Proof>) => Promise<Reauthentication>);
}

/** Part of a body that says who is there. */
export interface Reauthentication {
  readonly step_up_token?: string;
}

/** Operations by which the user proves once more who is there. */
export const stepUp: ClientGroup<StepUp> = ({ call, sessionManager }) => {
  const plain = methodsOf(stepUpMethods, call);

  const confirm: StepUpMethods['confirm'] = async (body) => {
    const data = await plain.confirm(body);
    if (data.access_token !== undefined) await renewClaims(sessionManager);
    return data;
  };

  async function run(...[purpose, prove]: Parameters<StepUp['stepUp']>): Promise<Reauthentication> {
    const challenge = await plain.challenge({ purpose });
    const { challenge_id } = challenge;
    const { step_up_token } = await confirm({ challenge_id, ...(await prove(challenge)) });
    return step_up_token === undefined ? {} : { step_up_token };
  }

  return { stepUp: Object.assign(run, { ...plain, confirm }) };
};
