import * as Type from '../type.ts';
import { ReauthenticatedObject } from './account.ts';
import { Success, Timestamp } from './fields.ts';
import { LoginRequest } from './login.ts';

/** Body of `POST /api/v1/account/deletion`. */
export const DeletionRequest = ReauthenticatedObject({});
export type DeletionRequest = Type.Static<typeof DeletionRequest>;

/** Answer 202 to an order to delete an account. */
export const DeletionScheduledResponse = Success(
  Type.Object({
    message: Type.Literal('DELETION_SCHEDULED'),
    deletes_at: Type.Unsafe<string>({
      ...Timestamp,
      description: 'From then on the account is erased. Until then it can be restored.',
    }),
    timestamp: Timestamp,
  }),
);
export type DeletionScheduledResponse = Type.Static<typeof DeletionScheduledResponse>;

const { email, password, device_id } = LoginRequest.properties;

/** Body of `POST /api/v1/auth/restore`. A malformed email address counts as an unknown one. */
export const RestoreRequest = Type.Object({ email, password, device_id });
export type RestoreRequest = Type.Static<typeof RestoreRequest>;

/** Answer 200 of `POST /api/v1/auth/restore`. */
export const RestoredResponse = Success(
  Type.Object({ message: Type.Literal('ACCOUNT_RESTORED'), timestamp: Timestamp }),
);
export type RestoredResponse = Type.Static<typeof RestoredResponse>;

const timestamp = '2026-11-22T09:31:00.000Z';

export const deletionExamples = {
  delete: { summary: 'The password again', value: { current_password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: DeletionRequest }>;

export const deletionScheduledExample = {
  status: 'success',
  data: { message: 'DELETION_SCHEDULED', deletes_at: '2026-12-06T09:31:00.000Z', timestamp },
} satisfies DeletionScheduledResponse;

export const restoreExamples = {
  restore: {
    summary: 'On the device that the account knows',
    value: {
      email: 'cook@example.com',
      password: 'correct horse battery',
      device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
    },
  },
} satisfies Record<string, { summary: string; value: RestoreRequest }>;

export const restoredExample = {
  status: 'success',
  data: { message: 'ACCOUNT_RESTORED', timestamp },
} satisfies RestoredResponse;
