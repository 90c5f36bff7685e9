import { ChallengeResponse, challengeExample } from '../challenges.ts';
import {
  FederatedChallengeResponse,
  FederatedLinkRequest,
  FederatedLoginRequest,
  federatedChallengeExample,
  federatedLinkExamples,
  IdentityListResponse,
  IdentityResponse,
  IdentityUnlinkedResponse,
  identityExample,
  identityListExample,
  identityUnlinkedExample,
  LinkCodeRequest,
  LinkIdentityRequest,
  linkCodeExamples,
  linkIdentityExamples,
  logInByProviderExamples,
  ProviderName,
  UnlinkIdentityRequest,
} from '../federated.ts';
import { Uuid } from '../fields.ts';
import { TokenResponse, tokenExample } from '../login.ts';
import { enabledIf } from '../route.ts';
import { reauthenticationExamples } from '../second-factor.ts';
import {
  EventTokenRefusal,
  eventTokenRefusalExample,
  exampleEventToken,
  ProviderNoticeRequest,
  ProviderNoticeResponse,
  securityEventTokenExample,
  securityEventTokenExamples,
} from '../security-event-token.ts';
import {
  access,
  codeSent,
  common,
  commonHeaders,
  fresh,
  knownHeaders,
  loginHeaders,
  refusedStepUp,
  withBody,
  withoutBody,
} from './shared.ts';

const shared = { tag: 'Identities', promises: 'sign-in.md#providers', headers: commonHeaders } as const;

/** Operations with providers of OpenID Connect. */
export const federatedRoutes = enabledIf('IDENTITY_PROVIDERS', {
  createFederatedChallenge: {
    ...shared,
    operationId: 'createFederatedChallenge',
    client: 'federated.challenge',
    summary: 'Begin a login by a provider',
    description:
      'Ask the provider for an ID token with `nonce`, or with `nonce_sha256` if its library wants the digest. The ' +
      'challenge counts for 10 minutes, for one login or one link.',
    method: 'post',
    path: '/api/v1/auth/federated/challenge',
    auth: 'none',
    finality: 'none',
    success: {
      status: 200,
      description: 'The challenge.',
      body: FederatedChallengeResponse,
      example: federatedChallengeExample,
    },
    // It reads no store.
    errors: ['PMA_TRACE_ID_MISSING', 'ERR-VALIDATION-FAILED'],
  },
  requestLinkCode: {
    ...shared,
    operationId: 'requestLinkCode',
    client: 'federated.requestLinkCode',
    summary: 'Mail a code that links an identity',
    description:
      'For `linkByProof`, if somebody has neither password nor passkey at hand. The mail names the provider. To get ' +
      'another mail, ask again.',
    method: 'post',
    path: '/api/v1/auth/federated/link/code',
    headers: knownHeaders,
    auth: 'none',
    body: LinkCodeRequest,
    requests: linkCodeExamples,
    success: { ...codeSent, body: ChallengeResponse, example: challengeExample },
    errors: [...common, 'ERR-CODE-EXPIRED', 'ERR-RATE-LIMITED'],
  },
  linkByProof: {
    ...shared,
    operationId: 'linkByProof',
    client: 'core',
    summary: 'Link an identity to its person’s account, and open a session',
    description:
      'After 409 `ERR-ACCOUNT-LINK-REQUIRED`, with `password`, with `credential` (a passkey that has signed ' +
      '`passkey_options`), or with `challenge_id` and `code` of `requestLinkCode`. If the account demands a second ' +
      'factor, that step links the identity.\n\n' +
      'A repeat with the same proof and `device_id` gets the same session’s newest pair for 60 s.',
    method: 'post',
    path: '/api/v1/auth/federated/link',
    auth: 'none',
    headers: loginHeaders,
    body: FederatedLinkRequest,
    requests: federatedLinkExamples,
    success: {
      status: 200,
      description: 'The identity is linked, and the session is open.',
      body: TokenResponse,
      example: tokenExample,
    },
    errors: [
      ...common,
      'ERR-INVALID-CREDENTIALS',
      'ERR-PASSKEY-INVALID',
      'ERR-CODE-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-IDENTITY-IN-USE',
      'ERR-IDENTITY-LIMIT-REACHED',
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-EMAIL-NOT-VERIFIED',
      'ERR-SECOND-FACTOR-REQUIRED',
      'ERR-RATE-LIMITED',
      'ERR-OVERLOADED',
    ],
  },
  logInByProvider: {
    ...shared,
    operationId: 'logInByProvider',
    client: 'core',
    summary: 'Open a session by a provider’s ID token',
    description:
      'Like the login by password. A person whom no account has gets 403 `ERR-REGISTRATION-REQUIRED`: send the same ' +
      'token again with `space_creation_mode`, which registers the account and answers 201, by default with the ' +
      'token’s name. Without an email address in the token it gets 403 `ERR-IDENTITY-ADDRESS-REQUIRED`. If an ' +
      'account has the address, the answer is 409 `ERR-ACCOUNT-LINK-REQUIRED`: an address never joins them, ' +
      '`linkByProof` does.\n\n' +
      'A repeat with the same token and `device_id` gets the same session’s newest pair for 60 s.',
    method: 'post',
    path: '/api/v1/auth/federated/:provider',
    auth: 'none',
    params: { provider: ProviderName },
    headers: loginHeaders,
    body: FederatedLoginRequest,
    requests: logInByProviderExamples,
    success: {
      status: 200,
      description: 'The session is open.',
      created: 'The account is there, and the session is open.',
      body: TokenResponse,
      example: tokenExample,
    },
    errors: [
      ...common,
      'ERR-IDENTITY-TOKEN-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-IDENTITY-DISABLED',
      'ERR-IDENTITY-ADDRESS-REQUIRED',
      'ERR-REGISTRATION-REQUIRED',
      'ERR-ACCOUNT-LINK-REQUIRED',
      // Of an email address whose change can still be undone.
      'ERR-EMAIL-ALREADY-EXISTS',
      'ERR-INVITE-TOKEN-INVALID',
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-EMAIL-NOT-VERIFIED',
      'ERR-SECOND-FACTOR-REQUIRED',
      'ERR-RATE-LIMITED',
    ],
  },
  listIdentities: {
    ...shared,
    operationId: 'listIdentities',
    client: 'federated.identities',
    summary: 'List the identities at providers',
    description: 'The caller’s identities, oldest first.',
    method: 'get',
    path: '/api/v1/account/identities',
    auth: 'bearer',
    success: {
      status: 200,
      description: 'The identities.',
      body: IdentityListResponse,
      example: identityListExample,
    },
    errors: [...withoutBody, ...access],
  },
  linkIdentity: {
    ...shared,
    operationId: 'linkIdentity',
    client: 'federated.link',
    summary: 'Link an identity at a provider',
    description: 'The account’s owner gets a mail. An account has at most 10 identities.',
    method: 'post',
    path: '/api/v1/account/identities/:identity',
    auth: 'bearer',
    params: { identity: ProviderName },
    body: LinkIdentityRequest,
    requests: linkIdentityExamples,
    success: { status: 201, description: 'The identity is linked.', body: IdentityResponse, example: identityExample },
    errors: [
      ...common,
      ...access,
      ...fresh,
      'ERR-IDENTITY-TOKEN-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-IDENTITY-IN-USE',
      'ERR-IDENTITY-LIMIT-REACHED',
    ],
    // A 401 would make apps refresh their tokens.
    errorStatuses: { ...refusedStepUp, 'ERR-IDENTITY-TOKEN-INVALID': [422] },
  },
  unlinkIdentity: {
    ...shared,
    operationId: 'unlinkIdentity',
    client: 'federated.unlink',
    summary: 'Remove an identity',
    description: 'The account’s owner gets a mail. The last sign-in method stays.',
    method: 'delete',
    path: '/api/v1/account/identities/:identity',
    auth: 'bearer',
    params: { identity: Uuid },
    body: UnlinkIdentityRequest,
    requests: reauthenticationExamples,
    success: {
      status: 200,
      description: 'The identity is gone.',
      body: IdentityUnlinkedResponse,
      example: identityUnlinkedExample,
    },
    errors: [...common, ...access, ...fresh, 'ERR-IDENTITY-NOT-FOUND', 'ERR-LAST-CREDENTIAL'],
    errorStatuses: refusedStepUp,
  },
  receiveProviderNotice: {
    ...shared,
    operationId: 'receiveProviderNotice',
    promises: 'sign-in.md#notices-of-providers',
    client: null,
    summary: 'Take a security event of a provider',
    description:
      'For providers: a person has withdrawn their consent, deleted their account there or lost it. JSON as Apple sends ' +
      'it, or a security event token (RFC 8417), which is answered as RFC 8935 says. A repeat gets the same answer and ' +
      'changes nothing.',
    method: 'post',
    path: '/api/v1/hooks/:provider',
    auth: 'none',
    params: { provider: ProviderName },
    // Providers send no request id.
    finality: 'fence',
    headers: ['Accept-Language'],
    body: ProviderNoticeRequest,
    requests: securityEventTokenExamples,
    token: {
      mediaType: 'application/secevent+jwt',
      sent: exampleEventToken,
      accepted: 'The security event token is valid. What is understood of it has taken effect.',
      refused: {
        description: 'The security event token is refused (RFC 8935).',
        body: EventTokenRefusal,
        example: eventTokenRefusalExample,
      },
    },
    success: {
      status: 200,
      description: 'It has taken effect.',
      body: ProviderNoticeResponse,
      example: securityEventTokenExample,
    },
    errors: [...withBody, 'ERR-IDENTITY-TOKEN-INVALID', 'ERR-RATE-LIMITED'],
  },
});
