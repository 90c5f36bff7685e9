import * as Type from '../type.ts';
import { ReauthenticatedObject } from './account.ts';
import { ChallengeToken, demandByMethod, Success, Timestamp, Uuid } from './fields.ts';
import { TokenResponse, tokenExample } from './login.ts';
import { UsedCredential } from './passkey-credentials.ts';

/** Seconds within which a new authenticator app must be confirmed. */
export const totpEnrolmentSeconds = 3_600;

const TimestampOrNull = Type.Unsafe<string | null>({ ...Timestamp, type: ['string', 'null'] });

/** A code of an authenticator app: a text of 6 decimal digits, because leading zeros count. */
export const TotpCode = Type.String({ readAs: 'code', pattern: '^[0-9]{6}$', examples: ['048151'] });

const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Ten codes, each for one login. They are shown only here.',
});

const TrustedDevice = Type.Object({
  device_id: Uuid,
  trusted_at: Timestamp,
  trusted_until: Timestamp,
});

/** Answer 200 of `GET /api/v1/account/factors`. */
export const FactorsResponse = Success(
  Type.Object({
    totp: Type.Object({ confirmed_at: TimestampOrNull }, { description: 'Null: the second factor is off.' }),
    recovery_codes_left: Type.Integer({ minimum: 0 }),
    passkeys: Type.Integer({ minimum: 0, description: 'Number of passkeys.' }),
    trusted_devices: Type.Array(TrustedDevice, {
      description: 'Devices whose logins need no second factor, the latest first.',
    }),
    removal: Type.Union([Type.Object({ due_at: Timestamp }), Type.Null()], {
      description: 'Somebody has ordered the removal of the second factor. Any session can stop it until then.',
    }),
    timestamp: Timestamp,
  }),
);
export type FactorsResponse = Type.Static<typeof FactorsResponse>;

/** Body of the operations on the second factor that only ask who is there. */
export const ReauthenticatedRequest = ReauthenticatedObject({});
export type ReauthenticatedRequest = Type.Static<typeof ReauthenticatedRequest>;

/** Answer 201 of `POST /api/v1/account/totp`. */
export const TotpCreatedResponse = Success(
  Type.Object({
    factor_id: Uuid,
    secret: Type.String({ description: 'The seed in base32, for people who type it.' }),
    otpauth_uri: Type.String({ description: 'The content of the QR code.' }),
    expires_at: Timestamp,
    timestamp: Timestamp,
  }),
);
export type TotpCreatedResponse = Type.Static<typeof TotpCreatedResponse>;

/** Body of `POST /api/v1/account/totp/confirm`. */
export const ConfirmTotpRequest = Type.Object({ factor_id: Uuid, code: TotpCode });
export type ConfirmTotpRequest = Type.Static<typeof ConfirmTotpRequest>;

const sessions_ended = Type.Integer({ minimum: 0, description: 'Number of sessions that the change has ended.' });

/** Answer 200 of `POST /api/v1/account/totp/confirm`. */
export const TotpConfirmedResponse = Success(
  Type.Object({
    message: Type.Literal('TOTP_CONFIRMED'),
    recovery_codes: RecoveryCodes,
    sessions_ended,
    timestamp: Timestamp,
  }),
);
export type TotpConfirmedResponse = Type.Static<typeof TotpConfirmedResponse>;

/** Answer 200 of `DELETE /api/v1/account/totp`. */
export const TotpDeletedResponse = Success(
  Type.Object({ message: Type.Literal('TOTP_DELETED'), sessions_ended, timestamp: Timestamp }),
);
export type TotpDeletedResponse = Type.Static<typeof TotpDeletedResponse>;

/** Answer 200 of `POST /api/v1/account/recovery-codes`. */
export const RecoveryCodesResponse = Success(Type.Object({ recovery_codes: RecoveryCodes, timestamp: Timestamp }));
export type RecoveryCodesResponse = Type.Static<typeof RecoveryCodesResponse>;

/** `{device_id}` in paths. Any text that is not a trusted device's id names no trusted device. */
export const TrustedDeviceId = Type.String({ minLength: 1, examples: ['5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e'] });

/** Answer 200 of `DELETE /api/v1/account/trusted-devices/{device_id}`. */
export const TrustEndedResponse = Success(
  Type.Object({ message: Type.Literal('TRUST_ENDED'), device_id: Type.String(), timestamp: Timestamp }),
);
export type TrustEndedResponse = Type.Static<typeof TrustEndedResponse>;

/** Body of `POST /api/v1/auth/login/second-factor`. */
export const ConfirmSecondFactorRequest = demandByMethod(
  Type.Object({
    challenge_id: ChallengeToken,
    method: Type.Enum(['totp', 'recovery_code', 'passkey']),
    code: Type.Optional(
      Type.String({
        readAs: 'code',
        minLength: 1,
        maxLength: 64,
        description: 'The code of the authenticator app, or a recovery code in any spelling.',
        examples: ['048151'],
      }),
    ),
    credential: Type.Optional(UsedCredential),
    trust_device: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Asks for a token that spares this device the next second factors.',
      }),
    ),
  }),
  { code: ['totp', 'recovery_code'], credential: ['passkey'] },
);
export type ConfirmSecondFactorRequest = Type.Static<typeof ConfirmSecondFactorRequest>;

/** Answer 200 of `POST /api/v1/auth/login/second-factor`: that of a login. */
export const SecondFactorResponse = Success(
  Type.Object({
    ...TokenResponse.properties.data.properties,
    trusted_device_token: Type.Optional(
      Type.String({ minLength: 1, description: 'Only if it was asked for: for later logins on this device.' }),
    ),
  }),
);
export type SecondFactorResponse = Type.Static<typeof SecondFactorResponse>;

const timestamp = '2026-11-22T09:31:00.000Z';
const device_id = '5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e';
const factor_id = 'c1b6d0a4-3f5e-4d27-8a19-6e0b7c2d9f31';

export const reauthenticationExamples = {
  again: { summary: 'The password again', value: { current_password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: ReauthenticatedRequest }>;

export const factorsExample = {
  status: 'success',
  data: {
    totp: { confirmed_at: '2026-11-20T10:05:00.000Z' },
    recovery_codes_left: 9,
    passkeys: 1,
    trusted_devices: [{ device_id, trusted_at: '2026-11-21T07:10:00.000Z', trusted_until: '2026-12-21T07:10:00.000Z' }],
    removal: null,
    timestamp,
  },
} satisfies FactorsResponse;

const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

export const totpCreatedExample = {
  status: 'success',
  data: {
    factor_id,
    secret,
    otpauth_uri: `otpauth://totp/Food%20storage:cook%40example.com?secret=${secret}&issuer=Food%20storage`,
    expires_at: '2026-11-22T10:31:00.000Z',
    timestamp,
  },
} satisfies TotpCreatedResponse;

export const confirmTotpExamples = {
  code: { summary: 'The code that the authenticator app shows', value: { factor_id, code: '048151' } },
} satisfies Record<string, { summary: string; value: ConfirmTotpRequest }>;

const recovery_codes = ['Q4ZMK-7TREX-2BNVA-LW5CJ-HS3PD'];

export const totpConfirmedExample = {
  status: 'success',
  data: { message: 'TOTP_CONFIRMED', recovery_codes, sessions_ended: 2, timestamp },
} satisfies TotpConfirmedResponse;

export const totpDeletedExample = {
  status: 'success',
  data: { message: 'TOTP_DELETED', sessions_ended: 2, timestamp },
} satisfies TotpDeletedResponse;

export const recoveryCodesExample = {
  status: 'success',
  data: { recovery_codes, timestamp },
} satisfies RecoveryCodesResponse;

export const trustEndedExample = {
  status: 'success',
  data: { message: 'TRUST_ENDED', device_id, timestamp },
} satisfies TrustEndedResponse;

const challenge_id = '2026-11.kqUZ0tBv0fQe1Yl3cXw7Jg';

export const confirmSecondFactorExamples = {
  totp: { summary: 'A code of the authenticator app', value: { challenge_id, method: 'totp', code: '048151' } },
  trust: {
    summary: 'The same, and trust in this device',
    value: { challenge_id, method: 'totp', code: '048151', trust_device: true },
  },
} satisfies Record<string, { summary: string; value: ConfirmSecondFactorRequest }>;

export const secondFactorExample = {
  status: 'success',
  data: { ...tokenExample.data, trusted_device_token: 'm1Jc0dM3W5eX9aT4uZ8yQ2rB7fK6hN0sV1pL3gC5iE0' },
} satisfies SecondFactorResponse;
