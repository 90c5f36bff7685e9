import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument, SessionAuth, UserDocument } from '@auth-account/stores/documents';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { ClientSession } from 'mongodb';
import { none, type Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasskeyFault } from '../../security/passkeys/passkey-faults.ts';
import type { PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';

export interface PasskeyProofDeps {
  readonly passkeys: Pick<PasskeyStore, 'noteUse'>;
  readonly verifier: Pick<PasskeyVerifier, 'verifyUse'>;
  readonly refusePasskey: RefusePasskey;
}

/** Audits the fault of a passkey, and returns the error `ERR-PASSKEY-INVALID`. */
export type RefusePasskey = (fault: PasskeyFault, userId: string | undefined, origin: RequestOrigin) => AppError;

/**
 * Creates the refusal of passkeys. The error names the fault on a developer's machine only: pages of `localhost` are
 * nowhere else.
 */
export function createRefusePasskey({ audit, rpId }: { readonly audit: Audit; readonly rpId: string }): RefusePasskey {
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

/** A right proof by a passkey. Nothing has been written yet. */
export interface ProvedPasskey {
  readonly passkey: PasskeyDocument;
  /** The passkey's part of the session's `amr` and `acr`. A passkey that has verified its user is two factors. */
  readonly auth: Omit<SessionAuth, 'at'>;
  /**
   * Writes the state of the authenticator, and returns the record of a counter that has fallen. Raises
   * `ERR-PASSKEY-INVALID` if the passkey was removed since the check.
   */
  use(user: PresentUser, at: Date, session: ClientSession): Promise<Pick<Outcome, 'audit'>>;
}

/** Checks that one of the account's passkeys has signed the challenge, which the caller has found good. */
export type PasskeyProof = (
  user: PresentUser,
  signed: SignedChallenge,
  rules: PasskeyRules,
  origin: RequestOrigin,
) => Promise<ProvedPasskey>;

/**
 * Creates the check of a proof by passkey. The signature must be right and for this service, and the user handle the
 * account's. A counter that has not risen, also since a simultaneous use, is audited: the authenticator may have been
 * copied, but an authenticator that counts wrongly must not keep its owner out. A changed backup state is stored.
 *
 * Raises `ERR-PASSKEY-INVALID`.
 */
export function createPasskeyProof({ passkeys, verifier, refusePasskey }: PasskeyProofDeps): PasskeyProof {
  return async (user, { challengeId, credential }, { requireUv, requireHandle }, origin) => {
    const passkey = findOwn(user, credential, requireHandle);
    if (typeof passkey === 'string') throw refusePasskey(passkey, user._id, origin);
    const { id, credential_id: credentialId, public_key } = passkey;
    const key = { credentialId, publicKey: public_key.value() };
    const assertion = await verifier.verifyUse(key, credential, challengeId, { requireUv });
    if (typeof assertion === 'string') throw refusePasskey(assertion, user._id, origin);
    // Whether a passkey can leave its device is fixed when it is made (WebAuthn level 3, section 7.2).
    if (assertion.isBackupEligible !== passkey.is_backup_eligible) throw refusePasskey('backup', user._id, origin);
    const { counter, isBackedUp: is_backed_up, isUserVerified } = assertion;
    const amr = [passkey.is_backup_eligible ? 'swk' : 'hwk', ...(isUserVerified ? ['user', 'mfa'] : [])];
    return {
      passkey,
      auth: { amr, acr: isUserVerified ? '2' : '1' },
      async use({ _id }, at, session) {
        const state = { counter, is_backed_up, at };
        const before = await passkeys.noteUse(_id, id, state, session);
        if (before === undefined) throw new AppError('ERR-PASSKEY-INVALID');
        const fell = { event: 'passkey.counter_fell', user_id: _id, passkey_id: id } as const;
        return { audit: hasFallen(counter, before) ? [fell] : none };
      },
    };
  };
}

/** Returns the passkey that the credential names, or the fault: it must name its account too. */
function findOwn(
  user: PresentUser,
  { id, response: { userHandle } }: UsedCredential,
  requireHandle: boolean,
): PasskeyDocument | PasskeyFault {
  const isOwner = userHandle === undefined || userHandle === null ? !requireHandle : userHandle === userHandleOf(user);
  return isOwner ? (user.passkeys?.find(({ credential_id }) => credential_id === id) ?? 'unknown') : 'user_handle';
}

/** Returns true if an authenticator that counts its signatures has not counted this one. */
function hasFallen(counter: number, { counter: before }: PasskeyDocument): boolean {
  return (counter > 0 || before > 0) && counter <= before;
}

/** Returns the account's `user.id` as WebAuthn's JSON has it; undefined if the account never had a passkey. */
export function userHandleOf({ user_handle }: Pick<UserDocument, 'user_handle'>): string | undefined {
  return user_handle && Buffer.from(user_handle.value()).toString('base64url');
}
