import {
  type ChangeSecondFactorDeps,
  createChangeSecondFactor,
} from '../usecases/second-factor/change-second-factor.ts';
import {
  type ConfirmSecondFactorDeps,
  createConfirmSecondFactor,
} from '../usecases/second-factor/confirm-second-factor.ts';
import { type ConfirmTotpDeps, createConfirmTotp } from '../usecases/second-factor/confirm-totp.ts';
import {
  type CreateRecoveryCodesDeps,
  createCreateRecoveryCodes,
} from '../usecases/second-factor/create-recovery-codes.ts';
import { type CreateTotpDeps, createCreateTotp } from '../usecases/second-factor/create-totp.ts';
import { createDeleteTotp, type DeleteTotpDeps } from '../usecases/second-factor/delete-totp.ts';
import {
  createDeleteTrustedDevice,
  type DeleteTrustedDeviceDeps,
} from '../usecases/second-factor/delete-trusted-device.ts';
import { createFindFactors, type FindFactorsDeps } from '../usecases/second-factor/find-factors.ts';

export type SecondFactorParts = FindFactorsDeps &
  CreateTotpDeps &
  DeleteTrustedDeviceDeps &
  ConfirmSecondFactorDeps &
  Omit<ConfirmTotpDeps & DeleteTotpDeps & CreateRecoveryCodesDeps, 'changeSecondFactor'> &
  ChangeSecondFactorDeps;

/** Creates the use cases of the second factor with their dependencies. */
export function secondFactorUseCases(parts: SecondFactorParts) {
  const changing = { ...parts, changeSecondFactor: createChangeSecondFactor(parts) };
  return {
    findFactors: createFindFactors(parts),
    createTotp: createCreateTotp(parts),
    confirmTotp: createConfirmTotp(changing),
    deleteTotp: createDeleteTotp(changing),
    createRecoveryCodes: createCreateRecoveryCodes(changing),
    confirmSecondFactor: createConfirmSecondFactor(parts),
    deleteTrustedDevice: createDeleteTrustedDevice(parts),
  };
}
