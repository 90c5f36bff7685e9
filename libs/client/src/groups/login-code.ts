import { type ClientGroup, methodsOf } from '../calls/client-group.ts';
import type { SessionInfo } from '../events.ts';
import { type LoginCodeMethods, loginCodeMethods } from '../generated/methods.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import { logInByCode } from '../generated/operations.ts';
import { sentTwice } from '../http/auth-error.ts';
import { emailKey } from '../http/typed-input.ts';

type Confirmation = Pick<OperationTypes['logInByCode']['body'], 'challenge_id' | 'code'>;

export interface LoginCode {
  readonly loginCode: LoginCodeMethods & {
    /**
     * Opens a session with the code of the mail. If the answer is lost, the request is sent once more. Raises the codes
     * of the operation.
     */
    logIn(proof: Confirmation): Promise<SessionInfo>;
  };
}

/** Login by a code that is sent to the user's email address. */
export const loginCode: ClientGroup<LoginCode> = ({ call, logInWith }) => {
  const plain = methodsOf(loginCodeMethods, call);
  let asked = { challenge_id: '', address: 'code' };
  return {
    loginCode: {
      ...plain,
      async request(body) {
        const data = await plain.request(body);
        asked = { challenge_id: data.challenge_id, address: emailKey(body.email) };
        return data;
      },
      async logIn(proof) {
        // The email address is the intent, as for a password. A device that is trusted for it sends its token.
        const intent = proof.challenge_id === asked.challenge_id ? asked.address : 'code';
        // The service answers a repeated request with the same session.
        return sentTwice(() => logInWith(logInByCode, proof, intent));
      },
    },
  };
};
