import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument, UserDocument } from '@auth-account/stores/documents';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasskeyFault } from '../../security/passkeys/passkey-fault.ts';
import type { PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';
import type { Assertion } from '../../security/passkeys/webauthn.ts';
import type { RightPasskey, useProof } from './use-proof.ts';

export interface PasskeyProofDeps {
  readonly verifier: Pick<PasskeyVerifier, 'verifyUse'>;
  readonly refusePasskey: RefusePasskey;
}

/** Audits the fault of a passkey, and returns the error `ERR-PASSKEY-INVALID`. */
export type RefusePasskey = (fault: PasskeyFault, userId: string | undefined, origin: RequestOrigin) => AppError;

export interface RefusePasskeyDeps {
  readonly audit: Audit;
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
}

/** Refuses passkeys. The error names the fault on a developer's machine only: pages of `localhost` are nowhere else. */
export function createRefusePasskey({ audit, rpId }: RefusePasskeyDeps): RefusePasskey {
  const isLocal = rpId === 'localhost';
  return (fault, user_id, origin) => {
    audit({ event: 'passkey_proof.refused', user_id, reason: fault }, origin);
    return new AppError('ERR-PASSKEY-INVALID', isLocal ? { details: { fault } } : {});
  };
}

/** A challenge that an authenticator has signed. */
export interface SignedChallenge {
  readonly challengeId: string;
  readonly credential: UsedCredential;
}

/** Conditions that a proof has to meet. */
export interface PasskeyRules {
  /** True if the authenticator must have verified its user. */
  readonly requireUv: boolean;
  /** True if the credential must name its account, because nothing else in the request does. */
  readonly requireHandle: boolean;
}

/** Checks that one of the account's passkeys has signed the challenge, which the caller has found good. */
export type PasskeyProof = (
  user: PresentUser,
  signed: SignedChallenge,
  rules: PasskeyRules,
  origin: RequestOrigin,
) => Promise<RightPasskey>;

/** Refuses every proof, because the service has no passkeys. */
export const refuseAllPasskeys: PasskeyProof = async () => {
  throw new AppError('ERR-PASSKEY-INVALID');
};

/**
 * Checks a proof by passkey. The signature must be right and for this service, and the user handle the account's. Its
 * use stores the new state: see {@link useProof}.
 *
 * Raises `ERR-PASSKEY-INVALID`, whose reason is audited.
 */
export function createPasskeyProof({ verifier, refusePasskey }: PasskeyProofDeps): PasskeyProof {
  async function check(
    user: PresentUser,
    { challengeId, credential }: SignedChallenge,
    { requireUv, requireHandle }: PasskeyRules,
  ): Promise<PasskeyFault | { readonly passkey: PasskeyDocument; readonly assertion: Assertion }> {
    if (!isOwner(user, credential, requireHandle)) return 'user_handle';
    const passkey = user.passkeys?.find(({ credential_id }) => credential_id === credential.id);
    if (passkey === undefined) return 'unknown';
    const key = { credentialId: passkey.credential_id, publicKey: passkey.public_key.value() };
    const assertion = await verifier.verifyUse(key, credential, challengeId, { requireUv });
    if (typeof assertion === 'string') return assertion;
    // A passkey that can leave its device stays one (WebAuthn level 3, section 7.2).
    if (passkey.is_backup_eligible && !assertion.isBackupEligible) return 'backup_eligibility';
    return { passkey, assertion };
  }

  return async (user, signed, rules, origin) => {
    const checked = await check(user, signed, rules);
    if (typeof checked === 'string') throw refusePasskey(checked, user._id, origin);
    const { passkey, assertion } = checked;
    const { counter, isBackedUp: is_backed_up, isBackupEligible: is_backup_eligible, isUserVerified } = assertion;
    const amr = [is_backup_eligible ? 'swk' : 'hwk', ...(isUserVerified ? ['user', 'mfa'] : [])];
    return {
      kind: 'passkey',
      passkeyId: passkey.id,
      state: { counter, is_backup_eligible, is_backed_up },
      auth: { amr, acr: isUserVerified ? '2' : '1' },
    };
  };
}

/** Returns true if the credential names this account. An empty user handle is none (Safari with a security key). */
function isOwner(user: PresentUser, { response: { userHandle } }: UsedCredential, requireHandle: boolean): boolean {
  return userHandle ? userHandle === userHandleOf(user) : !requireHandle;
}

/** Returns the account's `user.id` as WebAuthn's JSON has it; undefined if the account never had a passkey. */
export function userHandleOf({ user_handle }: Pick<UserDocument, 'user_handle'>): string | undefined {
  return user_handle && Buffer.from(user_handle.value()).toString('base64url');
}
