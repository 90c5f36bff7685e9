import { randomBytes } from 'node:crypto';
import type {
  CreatePasskeyRequest,
  PasskeyChallengeRequest,
  PasskeyChallengeResponse,
  PasskeyResponse,
} from '@auth-account/contracts/http/passkeys';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { passkeyAddedEvents } from '@auth-account/messaging/account-events';
import { isDuplicateKey, type PresentUser } from '@auth-account/stores';
import { describePasskey } from '@auth-account/stores/account-export';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { PasskeyDocument } from '@auth-account/stores/documents';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { SealedTokens } from '@auth-account/tokens';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { Binary } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { challengeMs, creationOptions, type PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import { type RefusePasskey, userHandleOf } from '../proofs/passkey-proof.ts';
import { createPermitLater, type ReauthenticateDeps } from '../step-up/reauthenticate.ts';

export interface CreatePasskeyDeps extends ReauthenticateDeps {
  readonly passkeys: Pick<PasskeyStore, 'findHolder' | 'add' | 'has'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly verifier: Pick<PasskeyVerifier, 'rpId' | 'verifyNew'>;
  readonly refusePasskey: RefusePasskey;
  readonly sealedTokens: SealedTokens;
  readonly limits: ReauthenticateDeps['limits'] & Pick<Limits, 'addPasskey'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** Content of a challenge for a new passkey. */
interface CreationChallenge {
  readonly user: string;
  readonly session: string;
  /** {@link credentialsVersion} of the account: a new passkey changes it, so a challenge makes one passkey at most. */
  readonly version: string;
  /** The account's user handle. It is stored with the first passkey. */
  readonly handle: string;
  /** The step-up token with which the challenge was asked for, as the new passkey uses it up. */
  readonly token?: readonly [id: string, until: number];
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Limit for the passkeys of an account. */
const maxPasskeys = 20;

const handleBytes = 64;

/**
 * Begins to add a passkey to the caller's account. Stores nothing, and keeps a step-up token, so that a user who has
 * dismissed the prompt needs no second step-up. The new passkey uses the token up.
 *
 * Raises the errors of {@link createPermitLater}, and `ERR-PASSKEY-LIMIT-REACHED`.
 */
export function createIssuePasskeyChallenge(deps: CreatePasskeyDeps) {
  const { sealedTokens, verifier, now } = deps;
  const permitLater = createPermitLater(deps);
  return async (
    input: PasskeyChallengeRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyChallengeResponse['data']> => {
    const { user, challengeUse } = await permitLater(input, caller, origin, 'passkeys');
    assertCapacity(user);
    const at = now();
    const handle = userHandleOf(user) ?? randomBytes(handleBytes).toString('base64url');
    const until = at.getTime() + challengeMs;
    const own = { user: user._id, session: caller.sid, version: credentialsVersion(user), handle, until };
    const content: CreationChallenge = {
      ...own,
      ...(challengeUse && { token: [challengeUse.id, challengeUse.until.getTime()] }),
    };
    const challenge_id = sealedTokens.seal('passkey', content);
    return {
      challenge_id,
      expires_at: new Date(until).toISOString(),
      options: creationOptions(verifier.rpId, challenge_id, user, handle),
      timestamp: at.toISOString(),
    };
  };
}

/**
 * Adds a passkey to the caller's account. It ends the account's open codes, and a requested change of the email address
 * lapses with its code. Only a few new passkeys a day are allowed, because a thief who knows the password could
 * otherwise stop the mailbox's owner from recovering the account.
 *
 * Raises `ERR-PASSKEY-INVALID` if the credential is wrong, or the challenge is of another purpose, account or session;
 * `ERR-CODE-EXPIRED` if the challenge is over or its step-up token was used; `ERR-PASSKEY-EXISTS` if an account has it;
 * `ERR-PASSKEY-LIMIT-REACHED`, `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if the account is gone.
 */
export function createAddPasskey(deps: CreatePasskeyDeps) {
  const { users, verifier, refusePasskey, passkeys, limits, ids, now } = deps;
  const openChallenge = createOpenChallenge(deps);
  const add = createAdd(deps);

  return async (
    { challenge_id, credential, name = null }: CreatePasskeyRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyResponse['data']> => {
    const challenge = await openChallenge(challenge_id, caller, origin);
    const made = await verifier.verifyNew(credential, challenge_id);
    if (typeof made === 'string') throw refusePasskey(made, caller.user_id, origin);
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    // A repeated request finds its own passkey here.
    if ((await passkeys.findHolder(made.credentialId)) !== undefined) throw new AppError('ERR-PASSKEY-EXISTS');
    const at = now();
    if (challenge.until <= at.getTime() || challenge.version !== credentialsVersion(user)) throw challengeOver();
    assertCapacity(user);
    await limits.addPasskey(user, origin);
    const passkey: PasskeyDocument = {
      id: ids.entityId(),
      credential_id: made.credentialId,
      public_key: new Binary(made.publicKey),
      counter: made.counter,
      transports: made.transports,
      is_backup_eligible: made.isBackupEligible,
      is_backed_up: made.isBackedUp,
      name,
      created_at: at,
    };
    const userHandle = new Binary(Buffer.from(challenge.handle, 'base64url'));
    await add(
      user,
      { passkey, userHandle, at },
      { sessionId: caller.sid, challengeUse: challengeUseOf(challenge), origin },
    );
    return { ...describePasskey(passkey), timestamp: now().toISOString() };
  };
}

/** The request that adds a passkey. */
interface Adding {
  readonly sessionId: string;
  readonly challengeUse: ChallengeUse | undefined;
  readonly origin: RequestOrigin;
}

function challengeUseOf({ token }: CreationChallenge): ChallengeUse | undefined {
  return token && { id: token[0], proof: [], until: new Date(token[1]) };
}

/** Writes a new passkey. */
function createAdd({ passkeys, challenges, stepUpTokens, commit, ids }: CreatePasskeyDeps) {
  return async (
    user: PresentUser,
    added: Parameters<PasskeyStore['add']>[1],
    { sessionId: session_id, challengeUse, origin }: Adding,
  ): Promise<void> => {
    const { at, passkey } = added;
    const ofPasskey = { user_id: user._id, passkey_id: passkey.id };
    const events = passkeyAddedEvents({ ...ofPasskey, locale: mailLocale(user, origin) }, () =>
      eventOrigin(origin, at, ids),
    );
    await commit(
      {
        at,
        isCommitted: () => passkeys.has(user._id, passkey.id),
        // The authenticator has the passkey already, so it should work.
        ifClientLeft: 'commit',
        async work(session) {
          if (challengeUse !== undefined && !(await stepUpTokens.use(challengeUse, session))) throw challengeOver();
          if (!(await passkeys.add(user, added, session))) throw challengeOver();
          await challenges.endAll(user._id, at, session);
          return { events, audit: [{ event: 'passkey.added', session_id, ...ofPasskey }], sessions: none };
        },
      },
      origin,
    ).catch((error: unknown) => {
      throw isDuplicateKey(error, 'passkeys.credential_id') ? new AppError('ERR-PASSKEY-EXISTS') : error;
    });
  };
}

/** Opens a challenge for a new passkey of the caller in this session. */
function createOpenChallenge({ sealedTokens, refusePasskey }: CreatePasskeyDeps) {
  return async (
    challengeId: string,
    { user_id, sid }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<CreationChallenge> => {
    const challenge = (await sealedTokens.open('passkey', challengeId)) as CreationChallenge | undefined;
    if (challenge?.user !== user_id || challenge.session !== sid) throw refusePasskey('challenge', user_id, origin);
    return challenge;
  };
}

function assertCapacity({ passkeys = [] }: PresentUser): void {
  if (passkeys.length < maxPasskeys) return;
  throw new AppError('ERR-PASSKEY-LIMIT-REACHED', { details: { limit: maxPasskeys } });
}

function challengeOver(): AppError {
  return new AppError('ERR-CODE-EXPIRED');
}
