import { Type } from 'typebox';

/** The refresh token in the bodies of refresh and logout. */
export const RefreshToken = Type.String({ minLength: 1, maxLength: 4096 });

/** Body of `POST /api/v1/auth/refresh`; the answer is login's `TokenResponse`. */
export const RefreshRequest = Type.Object({ refresh_token: RefreshToken });
export type RefreshRequest = Type.Static<typeof RefreshRequest>;
