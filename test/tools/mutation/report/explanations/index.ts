import type { Explanation } from '../explain.ts';
import { account } from './account.ts';
import { address } from './address.ts';
import { erasure } from './erasure.ts';
import { errors } from './errors.ts';
import { limits } from './limits.ts';
import { outbox } from './outbox.ts';
import { recovery } from './recovery.ts';
import { sessions } from './sessions.ts';
import { tokens } from './tokens.ts';
import { validation } from './validation.ts';

/** Reason why each surviving mutant survives, by area. Add one only after you have tried to kill the mutant. */
export const explanations: readonly Explanation[] = [
  ...tokens,
  ...sessions,
  ...account,
  ...address,
  ...recovery,
  ...limits,
  ...erasure,
  ...outbox,
  ...errors,
  ...validation,
];
