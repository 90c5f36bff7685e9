import { AppError } from '@auth-account/errors';
import type { Audit } from '../audit/audit.ts';
import type { ApiConfig } from '../config.ts';
import type { Operations } from '../http/operations.ts';
import { createPasskeyVerifier, type PasskeyVerifier } from '../security/passkeys/passkey-verifier.ts';
import {
  type CreatePasskeyDeps,
  createCreatePasskey,
  createCreatePasskeyChallenge,
} from '../usecases/passkeys/create-passkey.ts';
import { createDeletePasskey, type DeletePasskeyDeps } from '../usecases/passkeys/delete-passkey.ts';
import {
  createCreatePasskeyLoginChallenge,
  createLogInByPasskey,
  type LogInByPasskeyDeps,
} from '../usecases/passkeys/log-in-by-passkey.ts';
import { createListPasskeys, createRenamePasskey, type PasskeyListDeps } from '../usecases/passkeys/passkey-lists.ts';
import {
  createPasskeyProof,
  createRefusePasskey,
  type PasskeyProof,
  type PasskeyProofDeps,
  type RefusePasskey,
} from '../usecases/proofs/passkey-proof.ts';

/** The parts that passkeys need besides those of the other use cases. */
export interface PasskeyParts {
  readonly rpId: string;
  readonly verifier: PasskeyVerifier;
  readonly passkeyProof: PasskeyProof;
  readonly refusePasskey: RefusePasskey;
}

/** Creates the parts that passkeys need; undefined if the service has no passkeys. */
export function composePasskeys(
  { WEBAUTHN_RP_ID: rpId, WEBAUTHN_ORIGINS: origins }: ApiConfig,
  parts: Pick<PasskeyProofDeps, 'passkeys'> & { readonly audit: Audit },
): PasskeyParts | undefined {
  if (rpId === undefined) return;
  const verifier = createPasskeyVerifier({ rpId, origins });
  const refusePasskey = createRefusePasskey({ ...parts, rpId });
  return { rpId, verifier, refusePasskey, passkeyProof: createPasskeyProof({ ...parts, verifier, refusePasskey }) };
}

const names = [
  'createPasskeyChallenge',
  'createPasskey',
  'listPasskeys',
  'renamePasskey',
  'deletePasskey',
  'createPasskeyLoginChallenge',
  'logInByPasskey',
] as const;
type PasskeyOperations = Pick<Operations, (typeof names)[number]>;

export type PasskeyUseCaseParts = Omit<
  CreatePasskeyDeps & DeletePasskeyDeps & LogInByPasskeyDeps & PasskeyListDeps,
  keyof PasskeyParts
>;

/** Creates the use cases of passkeys. Without passkeys each answers that there is no such route. */
export function passkeyUseCases(parts: PasskeyUseCaseParts, own: PasskeyParts | undefined): PasskeyOperations {
  if (own === undefined) return Object.fromEntries(names.map((name) => [name, refuse])) as unknown as PasskeyOperations;
  const all = { ...parts, ...own };
  return {
    createPasskeyChallenge: createCreatePasskeyChallenge(all),
    createPasskey: createCreatePasskey(all),
    listPasskeys: createListPasskeys(all),
    renamePasskey: createRenamePasskey(all),
    deletePasskey: createDeletePasskey(all),
    createPasskeyLoginChallenge: createCreatePasskeyLoginChallenge(all),
    logInByPasskey: createLogInByPasskey(all),
  };
}

async function refuse(): Promise<never> {
  throw new AppError('ERR-ROUTE-NOT-FOUND');
}
