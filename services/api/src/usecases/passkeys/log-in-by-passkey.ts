import { randomUUID } from 'node:crypto';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { PasskeyLoginChallengeResponse, PasskeyLoginRequest } from '@auth-account/contracts/http/passkeys';
import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { SealedTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { challengeMs, type PasskeyVerifier, requestOptions } from '../../security/passkeys/passkey-verifier.ts';
import type { CompleteLogin } from '../login/complete-login.ts';
import { deviceOfProof, type OncePerChallenge } from '../proofs/once-per-proof.ts';
import type { PasskeyProof, RefusePasskey } from '../proofs/passkey-proof.ts';
import type { RightPasskey } from '../proofs/use-proof.ts';

export interface LogInByPasskeyDeps {
  readonly passkeys: Pick<PasskeyStore, 'findHolder' | 'findHolderConfirmed'>;
  readonly passkeyProof: PasskeyProof;
  readonly refusePasskey: RefusePasskey;
  readonly sealedTokens: SealedTokens;
  readonly oncePerChallenge: OncePerChallenge;
  readonly completeLogin: CompleteLogin;
  readonly limits: Pick<Limits, 'logInByPasskey'>;
  readonly audit: Audit;
  readonly verifier: Pick<PasskeyVerifier, 'rpId'>;
  readonly now: () => Date;
}

/** Content of a challenge for a login. */
interface LoginChallenge {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Begins a login by passkey. The answer names no account and stores nothing, so it is the same for everybody. */
export function createIssuePasskeyLoginChallenge({ sealedTokens, verifier, now }: LogInByPasskeyDeps) {
  return async (): Promise<PasskeyLoginChallengeResponse['data']> => {
    const at = now();
    const until = at.getTime() + challengeMs;
    const challenge_id = sealedTokens.seal('passkey-login', { id: randomUUID(), until } satisfies LoginChallenge);
    return {
      challenge_id,
      expires_at: new Date(until).toISOString(),
      options: requestOptions(verifier.rpId, challenge_id),
      timestamp: at.toISOString(),
    };
  };
}

/**
 * Logs a user in by passkey (docs/specification/sign-in.md, "Passkeys"). The passkey must have verified its user, so it
 * is two factors. The account then knows the device and network of the login.
 *
 * Raises `ERR-RATE-LIMITED`, `ERR-PASSKEY-INVALID` if the credential or the challenge is wrong, `ERR-CODE-EXPIRED` if
 * the challenge is over or a sign-in method was changed since the check, and the errors of {@link CompleteLogin}.
 */
export function createLogInByPasskey(deps: LogInByPasskeyDeps) {
  const { sealedTokens, oncePerChallenge, completeLogin, refusePasskey, limits, now } = deps;
  const prove = createProve(deps);

  return async (input: PasskeyLoginRequest, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    await limits.logInByPasskey(origin);
    const { challenge_id, credential } = input;
    const challenge = (await sealedTokens.open('passkey-login', challenge_id)) as LoginChallenge | undefined;
    if (challenge === undefined) throw refusePasskey('challenge', undefined, origin);
    const device = deviceOfProof(input.device_id?.toLowerCase(), origin);
    const proof = ['passkey', credential.id, credential.response, ...device];
    const challengeUse = { id: challenge.id, proof, until: new Date(challenge.until) };

    const logIn = async () => {
      if (challengeUse.until <= now()) throw new AppError('ERR-CODE-EXPIRED');
      const { user: seen, passkey } = await prove(input, origin);
      const { data } = await completeLogin(
        {
          ...({ seen, device: input, method: 'passkey', auth: passkey.auth, proof: passkey } as const),
          challengeUses: [challengeUse],
          // The change of a sign-in method ends all open challenges.
          ifChanged: () => new AppError('ERR-CODE-EXPIRED'),
        },
        origin,
      );
      return data;
    };

    return oncePerChallenge(challengeUse, logIn, origin);
  };
}

/** Finds the account of a credential, and checks the credential. It audits failures. */
function createProve(deps: LogInByPasskeyDeps) {
  const { passkeyProof, audit } = deps;
  const findHolder = createFindHolder(deps);
  const rules = { requireUv: true, requireHandle: true };

  return async (
    { challenge_id: challengeId, credential }: PasskeyLoginRequest,
    origin: RequestOrigin,
  ): Promise<{ readonly user: PresentUser; readonly passkey: RightPasskey }> => {
    const user = await findHolder(credential.id);
    if (user === undefined) {
      audit({ event: 'login.failed', user_id: undefined, reason: 'unknown_passkey' }, origin);
      throw new AppError('ERR-PASSKEY-INVALID', { details: { unknown_credential: true } });
    }
    try {
      return { user, passkey: await passkeyProof(user, { challengeId, credential }, rules, origin) };
    } catch (error) {
      if (isAppError(error)) audit({ event: 'login.failed', user_id: user._id, reason: 'wrong_passkey' }, origin);
      throw error;
    }
  };
}

/**
 * Finds the account of a passkey. An account whose erasure is due is unknown. An app deletes an unknown passkey, so the
 * function returns undefined only after a read that cannot be rolled back, and throws the driver's error if the store
 * lags.
 */
function createFindHolder({ passkeys }: LogInByPasskeyDeps) {
  return async (credentialId: string): Promise<PresentUser | undefined> =>
    (await passkeys.findHolder(credentialId)) ?? passkeys.findHolderConfirmed(credentialId);
}
