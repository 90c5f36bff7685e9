export type { VerifiedAccessToken } from './access-token/index.ts';
export { callerOf } from './adapters/caller-of.ts';
export {
  createVerifier,
  type Verifier,
  type VerifierOptions,
  type VerifierReport,
  type VerifierState,
} from './create-verifier.ts';
export type { Requirements } from './requirements.ts';
export type {
  Denied,
  DeniedPage,
  OpenRevocationSource,
  RevocationSource,
  SourceContext,
} from './revocations/revocation-source.ts';
