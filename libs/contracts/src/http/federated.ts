import * as Type from '../type.ts';
import { ReauthenticatedObject } from './account.ts';
import { Code, exampleChallengeId, exampleCode } from './challenges.ts';
import { demandOneOf, NameOrNull, SealedToken, Success, Timestamp, Uuid } from './fields.ts';
import { Identity } from './identity.ts';
import { LoginRequest } from './login.ts';
import { UsedCredential } from './passkey-credentials.ts';
import { RegisterRequest } from './register.ts';

/** Name of a provider in a path. */
export const ProviderName = Type.String({ minLength: 1, maxLength: 32, examples: ['google'] });

/** Its length has the limit of the body: Entra's token of a member of many groups is long. */
const exampleIdToken = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';
const IdToken = Type.String({ minLength: 1, maxLength: 16_384, examples: [exampleIdToken] });

const AuthorizationCode = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'Of the same sign-in as the ID token. A provider with `token_endpoint`, such as Apple, exchanges it.',
  }),
);

/** Answer 200 of `POST /api/v1/auth/federated/challenge`. */
export const FederatedChallengeResponse = Success(
  Type.Object({
    challenge_id: SealedToken,
    nonce: Type.String({ description: 'For the request to the provider.' }),
    nonce_sha256: Type.String({ description: 'Its SHA-256 in hexadecimal, for libraries that take the digest.' }),
    expires_at: Timestamp,
    timestamp: Timestamp,
  }),
);
export type FederatedChallengeResponse = Type.Static<typeof FederatedChallengeResponse>;

const { password, device_id, device_name, platform, trusted_device_token } = LoginRequest.properties;
const { space_creation_mode, invite_token } = RegisterRequest.properties;

/** Body of `POST /api/v1/auth/federated/{provider}`. */
export const FederatedLoginRequest = Type.Object({
  challenge_id: SealedToken,
  id_token: IdToken,
  authorization_code: AuthorizationCode,
  display_name: Type.Optional(NameOrNull),
  space_creation_mode: Type.Optional(space_creation_mode),
  invite_token,
  device_id,
  device_name,
  platform,
  trusted_device_token,
});
export type FederatedLoginRequest = Type.Static<typeof FederatedLoginRequest>;

/** Body of `POST /api/v1/auth/federated/link/code`. */
export const LinkCodeRequest = Type.Object({ link_challenge_id: SealedToken });
export type LinkCodeRequest = Type.Static<typeof LinkCodeRequest>;

/** Body of `POST /api/v1/auth/federated/link`: with one proof of the account, the first that it has of these. */
export const FederatedLinkRequest = demandOneOf(
  Type.Object({
    link_challenge_id: SealedToken,
    password: Type.Optional(password),
    credential: Type.Optional(UsedCredential),
    challenge_id: Type.Optional(Uuid),
    code: Type.Optional(Code),
    device_id,
    device_name,
    platform,
  }),
  [['password'], ['credential'], ['challenge_id', 'code']],
);
export type FederatedLinkRequest = Type.Static<typeof FederatedLinkRequest>;

/** Answer 200 of `GET /api/v1/account/identities`. */
export const IdentityListResponse = Success(Type.Object({ identities: Type.Array(Identity), timestamp: Timestamp }));
export type IdentityListResponse = Type.Static<typeof IdentityListResponse>;

/** Body of `POST /api/v1/account/identities/{provider}`. */
export const LinkIdentityRequest = ReauthenticatedObject({
  challenge_id: SealedToken,
  id_token: IdToken,
  authorization_code: AuthorizationCode,
});
export type LinkIdentityRequest = Type.Static<typeof LinkIdentityRequest>;

/** Answer 201 of `POST /api/v1/account/identities/{provider}`. */
export const IdentityResponse = Success(Type.Object({ ...Identity.properties, timestamp: Timestamp }));
export type IdentityResponse = Type.Static<typeof IdentityResponse>;

/** Body of `DELETE /api/v1/account/identities/{identity_id}`. */
export const UnlinkIdentityRequest = ReauthenticatedObject({});
export type UnlinkIdentityRequest = Type.Static<typeof UnlinkIdentityRequest>;

/** Answer 200 of `DELETE /api/v1/account/identities/{identity_id}`. */
export const IdentityUnlinkedResponse = Success(
  Type.Object({ message: Type.Literal('IDENTITY_UNLINKED'), identity_id: Uuid, timestamp: Timestamp }),
);
export type IdentityUnlinkedResponse = Type.Static<typeof IdentityUnlinkedResponse>;

const timestamp = '2026-11-22T09:31:00.000Z';
const identity = {
  identity_id: '019a9e0f-2c11-7d5e-8b4a-6e3d0f1a9b73',
  provider: 'google',
  email: 'cook@example.com',
  relay_off: false,
  disabled: false,
  created_at: '2026-11-20T08:00:00.000Z',
} satisfies Identity;

export const federatedChallengeExample = {
  status: 'success',
  data: {
    challenge_id: '2026-11.Zm9yIHRoZSBkb2N1bWVudGF0aW9uIG9ubHk',
    nonce: 'q1Tn0FYw4fJ1m5Jm3b0b0iF6mV4Yk8QzJc4cGQzqk1M',
    nonce_sha256: '5c0f8b7d3e2a19480f6c7d8e9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b',
    expires_at: '2026-11-22T09:41:00.000Z',
    timestamp,
  },
} satisfies FederatedChallengeResponse;

const device = {
  device_id: '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90',
  device_name: 'Pixel 9',
  platform: 'android',
} as const;
const proof = { challenge_id: federatedChallengeExample.data.challenge_id, id_token: exampleIdToken };

export const logInByProviderExamples = {
  known: { summary: 'Somebody who has an account', value: { ...proof, ...device } },
  new: {
    summary: 'Somebody who gets an account',
    value: { ...proof, display_name: 'Anna', space_creation_mode: 'CREATE_NEW_HOME', ...device },
  },
} satisfies Record<string, { summary: string; value: FederatedLoginRequest }>;

export const linkIdentityExamples = {
  password: { summary: 'With the password', value: { ...proof, current_password: 'correct horse battery' } },
} satisfies Record<string, { summary: string; value: LinkIdentityRequest }>;

const linkChallenge = { link_challenge_id: '2026-11.Zm9yIHRoZSBkb2N1bWVudGF0aW9uIG9ubHk' };

export const linkCodeExamples = {
  code: { summary: 'The challenge of the login', value: linkChallenge },
} satisfies Record<string, { summary: string; value: LinkCodeRequest }>;

export const federatedLinkExamples = {
  password: {
    summary: 'With the password',
    value: {
      ...linkChallenge,
      password: 'correct horse battery',
      ...device,
    },
  },
  code: {
    summary: 'With the code of the mail',
    value: { ...linkChallenge, challenge_id: exampleChallengeId, code: exampleCode },
  },
} satisfies Record<string, { summary: string; value: FederatedLinkRequest }>;

export const identityListExample = {
  status: 'success',
  data: { identities: [identity], timestamp },
} satisfies IdentityListResponse;

export const identityExample = { status: 'success', data: { ...identity, timestamp } } satisfies IdentityResponse;

export const identityUnlinkedExample = {
  status: 'success',
  data: { message: 'IDENTITY_UNLINKED', identity_id: identity.identity_id, timestamp },
} satisfies IdentityUnlinkedResponse;
