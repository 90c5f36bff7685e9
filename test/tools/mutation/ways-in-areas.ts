import { type Area, ofLimits, type Part, useCases } from './area.ts';

const ofSecurity = 'services/api/src/security';

function area(
  name: string,
  covers: string,
  ...parts: readonly (readonly [source: string, ...tests: string[]])[]
): Area {
  const ofPart = ([source, ...tests]: readonly [string, ...string[]]): Part => ({ sources: [source], tests });
  return { name, covers, needsServers: true, aim: 90, parts: parts.map(ofPart) };
}

/** Areas of the ways in: logins, second factors, step-ups, passkeys and keys of devices. */
export const waysIn: readonly Area[] = [
  area(
    'login',
    'the one end of every login, its challenges and their one use, proofs of a device’s key, keys that have not arrived yet, and the commit with its announcements',
    [
      `${useCases}/{open-session,device-name,assert-may-log-in}.ts`,
      'test/{integration/api/log-in,contract/repeated-login}.test.ts',
    ],
    [`${useCases}/{second-factor-challenge,demand-second-factor}.ts`, `${useCases}/demand-second-factor.test.ts`],
    [`${useCases}/{spend-proof,once-per-proof}.ts`, 'test/integration/api/once-per-proof.test.ts'],
    [`${useCases}/assert-email-verified.ts`, 'test/contract/email-verification.test.ts'],
    [`${ofSecurity}/await-key.ts`, `${ofSecurity}/await-key.test.ts`],
    ['services/api/src/announcements/commit.ts', 'test/integration/api/commit.test.ts'],
    [`${ofSecurity}/verify-device-proof.ts`, 'test/security/device-proofs.test.ts'],
  ),
  area(
    'factors',
    'codes of the second factor, their limit, and the ways in that a recovery removes',
    [`${ofSecurity}/{recovery-codes,totp}.ts`, `${ofSecurity}/{recovery-codes,totp}.test.ts`],
    [`${useCases}/removed-ways.ts`, `${useCases}/removed-ways.test.ts`],
    [`${ofLimits}/factor-limit.ts`, 'test/integration/api/factor-limit.test.ts'],
  ),
  area(
    'second-factor',
    'the use cases of the second factor, and the check of its proofs',
    [
      `${useCases}/{change-second-factor,confirm-totp,create-recovery-codes,create-totp,delete-totp,delete-trusted-device,find-factors}.ts`,
      'test/contract/second-factor{,-login}.test.ts',
    ],
    [
      `${useCases}/{confirm-second-factor,check-factor,given-factor,open-seed,warn-of-guesses}.ts`,
      'test/contract/{second-factor,second-factor-login,passkey-factor}.test.ts',
    ],
  ),
  area('step-up', 'the use cases of a step-up, and the check of a password that it may take', [
    `${useCases}/{confirm-step-up,create-step-up-challenge,reauthenticate,step-up-methods,step-up-tokens,check-password}.ts`,
    'test/contract/{step-up,passkey-factor}.test.ts',
  ]),
  area('credentials', 'the check of the credentials of passkeys', [
    `${ofSecurity}/passkeys/{webauthn,passkey-verifier}.ts`,
    'test/security/forged-passkeys.test.ts',
  ]),
  area('passkeys', 'the use cases of passkeys', [
    'services/api/src/usecases/{passkeys/*,proofs/passkey-*}.ts',
    'test/contract/passkeys.test.ts',
    'test/security/passkeys.test.ts',
  ]),
];
