import type { FederatedLoginRequest } from '@auth-account/contracts/http/federated';
import { AppError, isAppError } from '@auth-account/errors';
import { isDuplicateKey, type PresentUser, type UserStore } from '@auth-account/stores';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { VerifiedIdentity } from '../../security/providers/provider.ts';
import type { CountRegistration, Spaces, StoreAccount } from '../registration/store-account.ts';

export interface RegisterIdentityDeps {
  readonly users: Pick<UserStore, 'isEmailTaken'>;
  readonly identities: Pick<IdentityStore, 'findHolder'>;
  readonly spaces: Spaces;
  readonly storeAccount: StoreAccount;
  readonly countRegistration: CountRegistration;
  readonly hasher: Pick<PasswordHasher, 'unusableHash'>;
  readonly limits: Pick<Limits, 'register' | 'registered'>;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** The account of an identity, after a registration. */
export interface Registered {
  readonly user: PresentUser;
  /** False if a simultaneous request has created it. */
  readonly isCreated: boolean;
}

/** Creates an account for a person whom a provider has named: see {@link createRegisterIdentity}. */
export type RegisterIdentity = (
  identity: VerifiedIdentity,
  input: FederatedLoginRequest,
  origin: RequestOrigin,
) => Promise<Registered>;

/**
 * Registers by a provider: as docs/specification/registration.md, without a password. The email address counts as
 * verified only if the provider has given it out itself. Without `display_name` the account has the token's name.
 *
 * Raises `ERR-IDENTITY-ADDRESS-REQUIRED` if the provider names no email address that an account can have,
 * `ERR-REGISTRATION-REQUIRED` if the request names no space, `ERR-EMAIL-ALREADY-EXISTS` also while the person's account
 * is being erased, `ERR-INVITE-TOKEN-INVALID` and `ERR-RATE-LIMITED`. Then nothing is stored.
 */
export function createRegisterIdentity(deps: RegisterIdentityDeps): RegisterIdentity {
  const { users, identities, spaces, storeAccount, countRegistration, hasher, limits, ids, now } = deps;

  async function register(identity: Registrable, input: Complete, origin: RequestOrigin): Promise<Registered> {
    const { email, provider, sub, name } = identity;
    const { display_name = name } = input;
    const at = now();
    if (await users.isEmailTaken(email, at)) throw takenError(email);
    const space = await spaces.choose(input);
    const fields = {
      password_hash: hasher.unusableHash(),
      is_password_void: true,
      identities: [{ id: ids.entityId(), provider, sub, email, created_at: at }],
      ...(identity.isOwnEmail && { email_verified_at: at }),
      ...(display_name && { display_name }),
    };
    const { user } = await storeAccount({ ...input, email, space, fields }, origin).catch((error: unknown) => {
      const isTaken = isDuplicateKey(error, 'email_key') || isDuplicateKey(error, 'identities.sub');
      throw isTaken ? takenError(email, error) : error;
    });
    await limits.registered(email, origin);
    return { user, isCreated: true };
  }

  return async ({ email, ...person }, { space_creation_mode, ...input }, origin) => {
    if (email === undefined) throw new AppError('ERR-IDENTITY-ADDRESS-REQUIRED');
    const identity = { ...person, email };
    if (space_creation_mode === undefined) throw registrationRequired(identity);
    await limits.register(origin);
    const complete = { ...input, space_creation_mode };
    try {
      return await countRegistration(space_creation_mode, () => register(identity, complete, origin));
    } catch (error) {
      const isTaken = isAppError(error) && error.code === 'ERR-EMAIL-ALREADY-EXISTS';
      // A simultaneous request may have created the account of this person.
      const user = isTaken ? await identities.findHolder(identity) : undefined;
      if (user === undefined) throw error;
      return { user, isCreated: false };
    }
  };
}

type Registrable = VerifiedIdentity & { readonly email: string };

type Complete = Omit<FederatedLoginRequest, 'space_creation_mode'> &
  Required<Pick<FederatedLoginRequest, 'space_creation_mode'>>;

function registrationRequired({ email, name }: Registrable): AppError {
  const details = { email, ...(name && { display_name: name }) };
  return new AppError('ERR-REGISTRATION-REQUIRED', { details });
}

function takenError(rejected_email: string, cause?: unknown): AppError {
  return new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email }, cause });
}
