import { type Area, area, ofLimits, useCases } from './area.ts';

const ofSecurity = 'services/api/src/security';
const ofProviders = `${ofSecurity}/providers`;
const federated = 'services/api/src/usecases/federated';

/** Areas of the sign-in methods: logins, second factors, step-ups, passkeys and keys of devices. */
export const signInAreas: readonly Area[] = [
  area(
    'login',
    90,
    'the one end of every login',
    [`${useCases}/{open-session,proved-login}.ts`, 'test/{integration/api/log-in,contract/repeated-login}.test.ts'],
    [`${useCases}/complete-login.ts`, `${useCases}/complete-login.test.ts`],
  ),
  area(
    'proofs',
    90,
    'challenges for the second factor of a login, and keys that have not arrived yet',
    [`{${useCases}/demand-second-factor,${ofSecurity}/device-trust}.ts`, `${useCases}/demand-second-factor.test.ts`],
    [`${ofSecurity}/await-key.ts`, `${ofSecurity}/await-key.test.ts`],
  ),
  area('device-keys', 90, 'proofs of a device’s key', [
    `${ofSecurity}/verify-device-proof.ts`,
    'test/security/device-proofs.test.ts',
  ]),
  area(
    'commit',
    90,
    'the commit with its announcements, and the one use of a proof',
    ['services/api/src/announcements/commit.ts', 'test/integration/api/commit.test.ts'],
    [`${useCases}/once-per-proof.ts`, 'test/integration/api/once-per-proof.test.ts'],
    [
      `${useCases}/{consume,use}-proof.ts`,
      'test/integration/api/{once-per-proof,codes}.test.ts',
      'test/contract/second-factor-login.test.ts',
    ],
    ['services/api/src/announcements/retry-if-changed.ts', 'services/api/src/announcements/retry-if-changed.test.ts'],
  ),
  area(
    'factors',
    90,
    'codes of the second factor, and the sign-in methods that a recovery removes',
    [`${ofSecurity}/{recovery-codes,totp}.ts`, `${ofSecurity}/{recovery-codes,totp}.test.ts`],
    [`${useCases}/loss-by.ts`, `${useCases}/loss-by.test.ts`],
  ),
  area('factor-limit', 90, 'the limit of wrong second factors', [
    `${ofLimits}/factor-limit.ts`,
    'test/integration/api/factor-limit.test.ts',
  ]),
  area(
    'second-factor',
    90,
    'the use cases of the second factor, the check of its proofs, and the warning of guesses',
    [
      `${useCases}/{change-second-factor,confirm-totp,create-recovery-codes,create-totp,delete-totp,delete-trusted-device,find-factors}.ts`,
      'test/integration/api/second-factor.test.ts',
      'test/contract/second-factor{,-login}.test.ts',
    ],
    [
      `${useCases}/{confirm-second-factor,check-factor}.ts`,
      'test/integration/api/second-factor.test.ts',
      'test/contract/{second-factor,second-factor-login,login-code,passkey-factor,provider-links}.test.ts',
    ],
    [`${useCases}/warn-of-guesses.ts`, 'test/integration/api/{commit,second-factor}.test.ts'],
  ),
  area('step-up', 90, 'the use cases of a step-up, and the check of a password that it may take', [
    `${useCases}/{confirm-step-up,create-step-up-challenge,reauthenticate,step-up-methods,step-up-tokens,check-password}.ts`,
    'test/contract/{step-up,passkey-factor}.test.ts',
    'test/integration/api/restore-account.test.ts',
  ]),
  area('credentials', 90, 'the check of the credentials of passkeys', [
    `${ofSecurity}/passkeys/{webauthn,passkey-verifier}.ts`,
    'test/security/forged-passkeys.test.ts',
  ]),
  area(
    'passkeys',
    90,
    'the use cases of passkeys',
    ['services/api/src/usecases/passkeys/*.ts', 'test/contract/passkeys.test.ts'],
    [`${useCases}/passkey-proof.ts`, 'test/contract/{passkeys,passkey-factor}.test.ts'],
  ),
  area(
    'removal',
    90,
    'the removal of a lost second factor in 72 hours, with its store and the worker’s rounds',
    [`${useCases}/{order,stop}-factor-removal.ts`, 'test/integration/api/factor-removal.test.ts'],
    [
      'libs/stores/src/account/factor-removal-store.ts',
      'test/integration/{api/factor-removal,worker/remove-factors}.test.ts',
    ],
    ['services/worker/src/second-factor/remove-factors.ts', 'test/integration/worker/remove-factors.test.ts'],
  ),
  area('login-code', 90, 'the use cases of a login by a code from the mailbox', [
    `${useCases}/log-in-by-code.ts`,
    'test/contract/login-code.test.ts',
  ]),
  area(
    'providers',
    90,
    'the use cases of providers, and the checks of their ID tokens and security events',
    [`${ofProviders}/{id-tokens,provider-keys,verify-id-token}.ts`, 'test/integration/api/provider-tokens.test.ts'],
    [
      `{${ofProviders}/verify-security-event-token,${federated}/receive-security-events}.ts`,
      'test/contract/provider-security-events.test.ts',
    ],
    [
      `{${ofProviders}/exchange-code,${federated}/keep-provider-token}.ts`,
      'test/integration/api/provider-codes.test.ts',
    ],
    [
      `${federated}/{identity-lists,link-by-proof,link-identity,log-in-by-provider,provider-challenge,register-identity,request-link-code,unlink-identity}.ts`,
      'test/contract/{providers,provider-links}.test.ts',
      'test/integration/api/provider-codes.test.ts',
    ],
  ),
];
