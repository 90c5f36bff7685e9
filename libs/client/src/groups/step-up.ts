import { type ClientGroup, methodsOf, renewClaims } from '../calls/client-group.ts';
import { type StepUpMethods, stepUpMethods } from '../generated/methods.ts';

export interface StepUp {
  readonly stepUp: StepUpMethods;
}

/**
 * Operations by which the user proves once more who is there. After a step-up for the session, the client's next access
 * token has the new proof.
 */
export const stepUp: ClientGroup<StepUp> = ({ call, keeper }) => {
  const plain = methodsOf(stepUpMethods, call);
  return {
    stepUp: {
      ...plain,
      async confirm(body) {
        const data = await plain.confirm(body);
        if (data.access_token !== undefined) await renewClaims(keeper);
        return data;
      },
    },
  };
};
