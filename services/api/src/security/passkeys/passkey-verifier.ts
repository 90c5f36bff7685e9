import { createHash } from 'node:crypto';
import type {
  CreationOptions,
  NewCredential,
  RequestOptions,
  UsedCredential,
} from '@auth-account/contracts/http/passkey-credentials';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument } from '@auth-account/stores/documents';
import { type PasskeyFault, passkeyFaultOf } from './passkey-fault.ts';
import type { Assertion, NewPasskey, PasskeyKey, PasskeySettings } from './webauthn.ts';

/** Checks of passkeys. Each returns the first fault if anything is wrong. */
export interface PasskeyVerifier {
  /** `WEBAUTHN_RP_ID`. */
  readonly rpId: string;
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
 * Checks passkeys. The library compares challenge, origin, RP id and signature, and one verification takes about 1 ms
 * of the event loop.
 */
export function createPasskeyVerifier(settings: PasskeySettings): PasskeyVerifier {
  return {
    rpId: settings.rpId,
    async verifyNew(credential, challengeId) {
      const { verifyNew } = await library();
      return orFault(verifyNew(settings, credential, webauthnChallenge(challengeId)));
    },
    async verifyUse(passkey, credential, challengeId, { requireUv }) {
      const { verifyUse } = await library();
      return orFault(
        verifyUse(settings, passkey, credential, { challenge: webauthnChallenge(challengeId), requireUv }),
      );
    },
  };
}

/** All of the library's errors are faults of the credential: it reads nothing but what it is given. */
async function orFault<T>(verified: Promise<T>): Promise<T | PasskeyFault> {
  try {
    return await verified;
  } catch (error) {
    return passkeyFaultOf(error);
  }
}

/** Milliseconds for which a challenge counts, so that autofill can wait for its user. */
export const challengeMs = 10 * 60_000;

/** Returns the options with which an authenticator makes a passkey. It makes none if it has one of the account's. */
export function creationOptions(
  rpId: string,
  challengeId: string,
  { email, display_name, passkeys = [] }: PresentUser,
  userHandle: string,
): CreationOptions {
  return {
    rp: { id: rpId, name: rpId },
    user: { id: userHandle, name: email, displayName: display_name ?? email },
    challenge: webauthnChallenge(challengeId),
    // ES256, EdDSA, RS256.
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: challengeMs,
    excludeCredentials: passkeys.map(descriptorOf),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  };
}

/**
 * Returns the options with which an authenticator signs a challenge. With `allowed`, only these passkeys may sign. A
 * login names none, so that its options are the same for everybody.
 */
export function requestOptions(
  rpId: string,
  challengeId: string,
  allowed?: readonly PasskeyDocument[],
): RequestOptions {
  return {
    challenge: webauthnChallenge(challengeId),
    timeout: challengeMs,
    rpId,
    userVerification: 'required',
    ...(allowed && { allowCredentials: allowed.map(descriptorOf) }),
  };
}

function descriptorOf({ credential_id: id, transports }: PasskeyDocument) {
  return { type: 'public-key' as const, id, ...(transports.length > 0 && { transports: [...transports] }) };
}
