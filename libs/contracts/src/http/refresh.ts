import * as Type from '../type.ts';
import { exampleRefreshToken } from './login.ts';

/** A refresh token. The maximum length is far above the length of our tokens. */
const RefreshToken = Type.String({ minLength: 1, maxLength: 4096 });

/** Body of `POST /api/v1/auth/refresh`; the answer is login's `TokenResponse`. */
export const RefreshRequest = Type.Object({ refresh_token: RefreshToken });
export type RefreshRequest = Type.Static<typeof RefreshRequest>;

export const refreshExamples = {
  token: { summary: 'The newest refresh token', value: { refresh_token: exampleRefreshToken } },
} satisfies Record<string, { summary: string; value: RefreshRequest }>;
