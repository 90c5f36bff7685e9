import * as Type from '../type.ts';
import { ReauthenticatedObject } from './account.ts';
import { NameOrNull, SealedToken, Success, Timestamp } from './fields.ts';
import { LoginRequest } from './login.ts';
import { CreationOptions, NewCredential, Passkey, RequestOptions, UsedCredential } from './passkey-credentials.ts';

/** Body of `POST /api/v1/account/passkeys/challenge`. */
export const PasskeyChallengeRequest = ReauthenticatedObject({});
export type PasskeyChallengeRequest = Type.Static<typeof PasskeyChallengeRequest>;

const challenge = { challenge_id: SealedToken, expires_at: Timestamp } as const;

/** Answer 200 of `POST /api/v1/account/passkeys/challenge`. */
export const PasskeyChallengeResponse = Success(
  Type.Object({ ...challenge, options: CreationOptions, timestamp: Timestamp }),
);
export type PasskeyChallengeResponse = Type.Static<typeof PasskeyChallengeResponse>;

/** Body of `POST /api/v1/account/passkeys`. */
export const CreatePasskeyRequest = Type.Object({
  challenge_id: SealedToken,
  credential: NewCredential,
  name: Type.Optional(NameOrNull),
});
export type CreatePasskeyRequest = Type.Static<typeof CreatePasskeyRequest>;

/** Answer of `POST` (201) and `PATCH /api/v1/account/passkeys`. */
export const PasskeyResponse = Success(Type.Object({ ...Passkey.properties, timestamp: Timestamp }));
export type PasskeyResponse = Type.Static<typeof PasskeyResponse>;

/** Data for the signal API, by which an authenticator drops passkeys that the account no longer has. */
const signal = {
  rp_id: Type.String(),
  user_handle: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: '`user.id` of the passkeys, base64url; null if the account never had one.',
  }),
  accepted_credential_ids: Type.Array(Type.String(), { description: 'Credential ids of all passkeys, base64url.' }),
} as const;

/** Answer 200 of `GET /api/v1/account/passkeys`. */
export const PasskeyListResponse = Success(
  Type.Object({ passkeys: Type.Array(Passkey), ...signal, timestamp: Timestamp }),
);
export type PasskeyListResponse = Type.Static<typeof PasskeyListResponse>;

/** Body of `PATCH /api/v1/account/passkeys/{passkey_id}`. */
export const RenamePasskeyRequest = Type.Object({ name: NameOrNull });
export type RenamePasskeyRequest = Type.Static<typeof RenamePasskeyRequest>;

/** Body of `DELETE /api/v1/account/passkeys/{passkey_id}`. */
export const DeletePasskeyRequest = ReauthenticatedObject({});
export type DeletePasskeyRequest = Type.Static<typeof DeletePasskeyRequest>;

/** Answer 200 of `DELETE /api/v1/account/passkeys/{passkey_id}`. */
export const PasskeyDeletedResponse = Success(Type.Object({ ...signal, timestamp: Timestamp }));
export type PasskeyDeletedResponse = Type.Static<typeof PasskeyDeletedResponse>;

/** Answer 200 of `POST /api/v1/auth/passkeys/challenge`. */
export const PasskeyLoginChallengeResponse = Success(
  Type.Object({ ...challenge, options: RequestOptions, timestamp: Timestamp }),
);
export type PasskeyLoginChallengeResponse = Type.Static<typeof PasskeyLoginChallengeResponse>;

const { device_id, device_name, platform } = LoginRequest.properties;

/** Body of `POST /api/v1/auth/passkeys/login`. */
export const PasskeyLoginRequest = Type.Object({
  challenge_id: SealedToken,
  credential: UsedCredential,
  device_id,
  device_name,
  platform,
});
export type PasskeyLoginRequest = Type.Static<typeof PasskeyLoginRequest>;

const timestamp = '2026-11-22T09:31:00.000Z';
const expires_at = '2026-11-22T09:41:00.000Z';
const credentialId = 'gGkG6Mvq0bJ3bD0zTzXq5w';
const challenge_id = '2026-11.Zm9yIHRoZSBkb2N1bWVudGF0aW9uIG9ubHk';
const challengeText = 'q1Tn0FYw4fJ1m5Jm3b0b0iF6mV4Yk8QzJc4cGQzqk1M';
const userHandle = 'b2Ygc29tZWJvZHkgd2hvIGlzIG5vYm9keSwgZm9yIHRoZSBkb2N1bWVudGF0aW9uIG9ubHksIDY0IQ';

const passkey = {
  passkey_id: '019a9e0f-2c11-7d5e-8b4a-6e3d0f1a9b72',
  name: 'Pixel 9',
  backed_up: true,
  created_at: '2026-11-20T08:00:00.000Z',
  last_used_at: '2026-11-22T07:00:00.000Z',
} satisfies Passkey;

export const passkeyChallengeExamples = {
  password: { summary: 'With the password', value: { current_password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: PasskeyChallengeRequest }>;

export const passkeyChallengeExample = {
  status: 'success',
  data: {
    challenge_id,
    expires_at,
    options: {
      rp: { id: 'example.com', name: 'example.com' },
      user: { id: userHandle, name: 'cook@example.com', displayName: 'Anna' },
      challenge: challengeText,
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: 600_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    },
    timestamp,
  },
} satisfies PasskeyChallengeResponse;

const credential = { id: credentialId, rawId: credentialId, type: 'public-key' } as const;
const clientDataJSON = 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0';

export const createPasskeyExamples = {
  named: {
    summary: 'With a name',
    value: {
      challenge_id,
      credential: { ...credential, response: { clientDataJSON, attestationObject: 'o2NmbXRkbm9uZQ' } },
      name: 'Pixel 9',
    },
  },
} satisfies Record<string, { summary: string; value: CreatePasskeyRequest }>;

export const logInByPasskeyExamples = {
  phone: {
    summary: 'On a phone',
    value: {
      challenge_id,
      credential: {
        ...credential,
        response: { clientDataJSON, authenticatorData: 'SZYN5YgOjGh0NBcP', signature: 'MEUCIQ', userHandle },
      },
      device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
      device_name: 'Pixel 9',
      platform: 'android',
    },
  },
} satisfies Record<string, { summary: string; value: PasskeyLoginRequest }>;

export const passkeyExample = { status: 'success', data: { ...passkey, timestamp } } satisfies PasskeyResponse;

export const newPasskeyExample = {
  status: 'success',
  data: { ...passkey, last_used_at: null, timestamp },
} satisfies PasskeyResponse;

const signalExample = {
  rp_id: 'example.com',
  user_handle: userHandle,
  accepted_credential_ids: [credentialId],
};

export const passkeyListExample = {
  status: 'success',
  data: { passkeys: [passkey], ...signalExample, timestamp },
} satisfies PasskeyListResponse;

export const renamePasskeyExamples = {
  rename: { summary: 'A name', value: { name: 'Pixel 9' } },
} satisfies Record<string, { summary: string; value: RenamePasskeyRequest }>;

export const passkeyDeletedExample = {
  status: 'success',
  data: { ...signalExample, accepted_credential_ids: [], timestamp },
} satisfies PasskeyDeletedResponse;

export const passkeyLoginChallengeExample = {
  status: 'success',
  data: {
    challenge_id,
    expires_at,
    options: { challenge: challengeText, timeout: 600_000, rpId: 'example.com', userVerification: 'required' },
    timestamp,
  },
} satisfies PasskeyLoginChallengeResponse;
