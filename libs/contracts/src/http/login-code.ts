import * as Type from '../type.ts';
import { ConfirmCodeRequest, exampleChallengeId, exampleCode } from './challenges.ts';
import { LoginRequest } from './login.ts';

const { email: _email, password: _password, ...device } = LoginRequest.properties;

/** Body of `POST /api/v1/auth/login-code/confirm`. */
export const LogInByCodeRequest = Type.Object({ ...ConfirmCodeRequest.properties, ...device });
export type LogInByCodeRequest = Type.Static<typeof LogInByCodeRequest>;

export const logInByCodeExamples = {
  phone: {
    summary: 'The code of the mail, on a phone',
    value: {
      challenge_id: exampleChallengeId,
      code: exampleCode,
      device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
      device_name: 'Pixel 9',
      platform: 'android',
    },
  },
} satisfies Record<string, { summary: string; value: LogInByCodeRequest }>;
