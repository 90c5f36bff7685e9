import {
  type ChangeSecondFactorDeps,
  createChangeSecondFactor,
} from '../usecases/second-factor/change-second-factor.ts';
import { type ConfirmTotpDeps, createConfirmTotp } from '../usecases/second-factor/confirm-totp.ts';
import {
  type CreateRecoveryCodesDeps,
  createCreateRecoveryCodes,
} from '../usecases/second-factor/create-recovery-codes.ts';
import { type CreateTotpDeps, createCreateTotp } from '../usecases/second-factor/create-totp.ts';
import { createDeleteTotp, type DeleteTotpDeps } from '../usecases/second-factor/delete-totp.ts';
import { createFindFactors, type FindFactorsDeps } from '../usecases/second-factor/find-factors.ts';
import { createOpenSeed, type OpenSeedDeps } from '../usecases/second-factor/open-seed.ts';

export type SecondFactorParts = FindFactorsDeps &
  CreateTotpDeps &
  Omit<ConfirmTotpDeps & DeleteTotpDeps & CreateRecoveryCodesDeps, 'openSeed' | 'changeSecondFactor'> &
  ChangeSecondFactorDeps &
  OpenSeedDeps;

/** Creates the use cases of the second factor with their dependencies. */
export function secondFactorUseCases(parts: SecondFactorParts) {
  const changing = {
    ...parts,
    openSeed: createOpenSeed(parts),
    changeSecondFactor: createChangeSecondFactor(parts),
  };
  return {
    findFactors: createFindFactors(parts),
    createTotp: createCreateTotp(parts),
    confirmTotp: createConfirmTotp(changing),
    deleteTotp: createDeleteTotp(changing),
    createRecoveryCodes: createCreateRecoveryCodes(changing),
  };
}
