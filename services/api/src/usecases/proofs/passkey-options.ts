import type { CreationOptions, RequestOptions } from '@auth-account/contracts/http/passkey-credentials';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument } from '@auth-account/stores/documents';
import { webauthnChallenge } from '../../security/passkeys/passkey-verifier.ts';

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
