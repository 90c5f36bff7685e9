import { createHash } from 'node:crypto';
import type { NewCredential, UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import type { PasskeyFault } from './passkey-faults.ts';
import type { Assertion, NewPasskey, PasskeyKey, PasskeySettings } from './webauthn.ts';

/** Checks of passkeys. Each returns the first fault if anything is wrong. */
export interface PasskeyVerifier {
  verifyNew(credential: NewCredential, challengeId: string): Promise<NewPasskey | PasskeyFault>;
  /**
   * Checks an assertion by the key of the passkey that it names. Whose passkey that is, and what a counter that has
   * fallen means, the caller decides.
   */
  verifyUse(
    passkey: PasskeyKey,
    credential: UsedCredential,
    challengeId: string,
    rules: { readonly requireUv: boolean },
  ): Promise<Assertion | PasskeyFault>;
}

/** Returns the challenge that an authenticator signs: it follows from the id, so that nothing need be stored. */
export function webauthnChallenge(challengeId: string): string {
  return createHash('sha256').update(challengeId).digest('base64url');
}

/** Loaded with the first passkey, because the library costs a process memory and start-up time. */
const library = () => import('./webauthn.ts');

/**
 * Creates the checks of passkeys. The library compares challenge, origin, RP id and signature, and one verification
 * takes about 1 ms of the event loop. All of its errors are faults of the credential: it reads nothing but what it is
 * given.
 */
export function createPasskeyVerifier(settings: PasskeySettings): PasskeyVerifier {
  return {
    async verifyNew(credential, challengeId) {
      const { verifyNew, findFault } = await library();
      const challenge = webauthnChallenge(challengeId);
      const rules = { type: 'webauthn.create', challenge, requireUv: true } as const;
      return verifyNew(settings, credential, challenge).catch(() => findFault(settings, credential.response, rules));
    },
    async verifyUse(passkey, credential, challengeId, { requireUv }) {
      const { verifyUse, findFault } = await library();
      const rules = { type: 'webauthn.get', challenge: webauthnChallenge(challengeId), requireUv } as const;
      return verifyUse(settings, passkey, credential, rules).catch(() =>
        findFault(settings, credential.response, rules),
      );
    },
  };
}
