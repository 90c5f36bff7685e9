import { Uuid } from '../fields.ts';
import { TokenResponse, tokenExample } from '../login.ts';
import {
  CreatePasskeyRequest,
  createPasskeyExamples,
  DeletePasskeyRequest,
  logInByPasskeyExamples,
  newPasskeyExample,
  PasskeyChallengeRequest,
  PasskeyChallengeResponse,
  PasskeyDeletedResponse,
  PasskeyListResponse,
  PasskeyLoginChallengeResponse,
  PasskeyLoginRequest,
  PasskeyResponse,
  passkeyChallengeExample,
  passkeyChallengeExamples,
  passkeyDeletedExample,
  passkeyExample,
  passkeyListExample,
  passkeyLoginChallengeExample,
  RenamePasskeyRequest,
  renamePasskeyExamples,
} from '../passkeys.ts';
import { enabledIf } from '../route.ts';
import { access, common, commonHeaders, fresh, loginHeaders, refusedStepUp, withoutBody } from './shared.ts';

const shared = {
  tag: 'Passkeys',
  promises: 'sign-in.md#passkeys',
  client: 'core',
  auth: 'bearer',
  headers: commonHeaders,
} as const;

/** Operations on passkeys. */
export const passkeyRoutes = enabledIf('WEBAUTHN_RP_ID', {
  createPasskeyChallenge: {
    ...shared,
    operationId: 'createPasskeyChallenge',
    summary: 'Begin to add a passkey',
    description:
      '`options` is for `navigator.credentials.create` (`PublicKeyCredential.parseCreationOptionsFromJSON`) and its ' +
      'counterparts on phones. The challenge counts for 10 minutes, in this session. A `step_up_token` ' +
      'counts again for another challenge until there is a new passkey.',
    method: 'post',
    path: '/api/v1/account/passkeys/challenge',
    body: PasskeyChallengeRequest,
    requests: passkeyChallengeExamples,
    success: {
      status: 200,
      description: 'The challenge.',
      body: PasskeyChallengeResponse,
      example: passkeyChallengeExample,
    },
    errors: [...common, ...access, ...fresh, 'ERR-PASSKEY-LIMIT-REACHED'],
    errorStatuses: refusedStepUp,
  },
  createPasskey: {
    ...shared,
    operationId: 'createPasskey',
    summary: 'Add a passkey',
    description:
      '`credential` is what the authenticator has returned, as JSON (`credential.toJSON()`). The account’s owner gets a ' +
      'mail. An account has few new passkeys a day.',
    method: 'post',
    path: '/api/v1/account/passkeys',
    body: CreatePasskeyRequest,
    requests: createPasskeyExamples,
    success: { status: 201, description: 'The passkey is there.', body: PasskeyResponse, example: newPasskeyExample },
    errors: [
      ...common,
      ...access,
      'ERR-PASSKEY-INVALID',
      'ERR-PASSKEY-EXISTS',
      'ERR-PASSKEY-LIMIT-REACHED',
      'ERR-CODE-EXPIRED',
      'ERR-RATE-LIMITED',
    ],
  },
  listPasskeys: {
    ...shared,
    operationId: 'listPasskeys',
    client: 'passkeys.list',
    summary: 'List the passkeys',
    description:
      'The caller’s passkeys, oldest first, and what `PublicKeyCredential.signalAllAcceptedCredentials` takes.',
    method: 'get',
    path: '/api/v1/account/passkeys',
    success: {
      status: 200,
      description: 'The passkeys.',
      body: PasskeyListResponse,
      example: passkeyListExample,
    },
    errors: [...withoutBody, ...access],
  },
  renamePasskey: {
    ...shared,
    operationId: 'renamePasskey',
    client: 'passkeys.rename',
    summary: 'Name a passkey',
    description: 'Null removes the name. An id that is no passkey of the caller’s gets 404.',
    method: 'patch',
    path: '/api/v1/account/passkeys/:passkey_id',
    params: { passkey_id: Uuid },
    body: RenamePasskeyRequest,
    requests: renamePasskeyExamples,
    success: {
      status: 200,
      description: 'The passkey now.',
      body: PasskeyResponse,
      example: passkeyExample,
    },
    errors: [...common, ...access, 'ERR-PASSKEY-NOT-FOUND', 'ERR-RATE-LIMITED'],
  },
  deletePasskey: {
    ...shared,
    operationId: 'deletePasskey',
    client: 'passkeys.delete',
    summary: 'Remove a passkey',
    description:
      'The answer has what `PublicKeyCredential.signalAllAcceptedCredentials` takes, so that the authenticator drops ' +
      'the passkey too. The account’s owner gets a mail. The last sign-in method stays.',
    method: 'delete',
    path: '/api/v1/account/passkeys/:passkey_id',
    params: { passkey_id: Uuid },
    body: DeletePasskeyRequest,
    requests: passkeyChallengeExamples,
    success: {
      status: 200,
      description: 'The passkey is gone.',
      body: PasskeyDeletedResponse,
      example: passkeyDeletedExample,
    },
    errors: [...common, ...access, ...fresh, 'ERR-PASSKEY-NOT-FOUND', 'ERR-LAST-CREDENTIAL'],
    errorStatuses: refusedStepUp,
  },
  createPasskeyLoginChallenge: {
    ...shared,
    operationId: 'createPasskeyLoginChallenge',
    summary: 'Begin a login by passkey',
    description:
      '`options` is for `navigator.credentials.get` (`PublicKeyCredential.parseRequestOptionsFromJSON`) and its ' +
      'counterparts on phones. It names no account, and counts for 10 minutes, so that autofill can wait.',
    method: 'post',
    path: '/api/v1/auth/passkeys/challenge',
    auth: 'none',
    finality: 'none',
    success: {
      status: 200,
      description: 'The challenge.',
      body: PasskeyLoginChallengeResponse,
      example: passkeyLoginChallengeExample,
    },
    // It reads no store.
    errors: ['PMA_TRACE_ID_MISSING', 'ERR-VALIDATION-FAILED'],
  },
  logInByPasskey: {
    ...shared,
    operationId: 'logInByPasskey',
    summary: 'Open a session by passkey',
    description:
      'Like the login by password, with a passkey that has verified its user. A repeat with the same challenge, ' +
      'credential and `device_id` gets the same session’s newest pair for 60 s.\n\n' +
      '`unknown_credential` says that no account has the passkey: let the authenticator drop it ' +
      '(`PublicKeyCredential.signalUnknownCredential`).',
    method: 'post',
    path: '/api/v1/auth/passkeys/login',
    auth: 'none',
    headers: loginHeaders,
    body: PasskeyLoginRequest,
    requests: logInByPasskeyExamples,
    success: { status: 200, description: 'The session is open.', body: TokenResponse, example: tokenExample },
    errors: [
      ...common,
      'ERR-PASSKEY-INVALID',
      'ERR-CODE-EXPIRED',
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-EMAIL-NOT-VERIFIED',
      'ERR-RATE-LIMITED',
    ],
  },
});
