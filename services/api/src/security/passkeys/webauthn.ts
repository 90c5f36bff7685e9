import { createPublicKey, hash, type JsonWebKey } from 'node:crypto';
import type { NewCredential, UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import {
  cose,
  decodeAttestationObject,
  decodeCredentialPublicKey,
  isoBase64URL,
  isoCBOR,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers';
import { FaultyPasskey } from './passkey-fault.ts';

/** `WEBAUTHN_RP_ID` and `WEBAUTHN_ORIGINS`. */
export interface PasskeySettings {
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** State of an authenticator, as a ceremony has shown it. */
interface AuthenticatorState {
  /** Number of its signatures; 0 if it does not count. */
  readonly counter: number;
  /** True if the passkey may be copied to other devices of its owner. */
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
}

/** A passkey that was made for a challenge of ours. */
export interface NewPasskey extends AuthenticatorState {
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: Uint8Array;
  readonly transports: readonly string[];
}

/** Use of a passkey for a challenge of ours. */
export interface Assertion extends AuthenticatorState {
  readonly isUserVerified: boolean;
}

export interface PasskeyKey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
}

/** COSE algorithms that are offered and accepted, in the order of preference: ES256, EdDSA, RS256. */
const algorithms: readonly number[] = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

/**
 * Verifies a new credential. Throws for each fault.
 *
 * A password manager may make it without its user (conditional creation, WebAuthn level 3, section 5.1.3): then neither
 * flag is set. That is as safe, because the account's user has just proved who they are, and each use verifies its user.
 *
 * No attestation is asked for, so the statement of an authenticator that sends one is put aside unread, as clients
 * should do. Otherwise the library would parse certificates of anyone and fetch URLs that they name.
 */
export async function verifyNew(
  settings: PasskeySettings,
  credential: NewCredential,
  challenge: string,
): Promise<NewPasskey> {
  const { clientDataJSON, attestationObject, transports = [] } = credential.response;
  const { rpId, origins } = settings;
  assertClientData(clientDataJSON, { type: 'webauthn.create', challenge, origins });
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData');
  const { flags, credentialPublicKey } = parseAuthenticatorData(authData);
  const isConditional = !flags.up && !flags.uv;
  assertAuthenticator(authData, { rpId, requireUp: !isConditional, requireUv: !isConditional });
  if (credentialPublicKey !== undefined && !isSoundKey(credentialPublicKey)) throw new FaultyPasskey('key');
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...credential,
      response: { clientDataJSON, attestationObject: withoutStatement(authData) },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserPresence: !isConditional,
    requireUserVerification: !isConditional,
    supportedAlgorithmIDs: [...algorithms],
  });
  if (!verified) throw new FaultyPasskey('malformed');
  const { credential: made, credentialDeviceType, credentialBackedUp } = registrationInfo;
  if (made.id !== credential.id) throw new FaultyPasskey('malformed');
  return {
    credentialId: made.id,
    publicKey: made.publicKey,
    counter: made.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
    transports: [...new Set(transports)],
  };
}

/**
 * Verifies an assertion by the passkey's key. Throws for each fault.
 *
 * The library judges the counter before the signature, so that a forged counter would look like a cloned authenticator.
 * With 0 as the stored value it judges no counter.
 */
export async function verifyUse(
  { rpId, origins }: PasskeySettings,
  { credentialId, publicKey }: PasskeyKey,
  credential: UsedCredential,
  { challenge, requireUv }: { readonly challenge: string; readonly requireUv: boolean },
): Promise<Assertion> {
  const { userHandle: _own, ...response } = credential.response;
  assertClientData(response.clientDataJSON, { type: 'webauthn.get', challenge, origins });
  assertAuthenticator(isoBase64URL.toBuffer(response.authenticatorData), { rpId, requireUp: true, requireUv });
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...credential, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    credential: { id: credentialId, publicKey: Uint8Array.from(publicKey), counter: 0 },
    requireUserVerification: requireUv,
  });
  if (!verified) throw new FaultyPasskey('signature');
  const { newCounter, userVerified, credentialDeviceType, credentialBackedUp } = authenticationInfo;
  return {
    counter: newCounter,
    isUserVerified: userVerified,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

interface WantedClientData extends Pick<PasskeySettings, 'origins'> {
  readonly type: 'webauthn.create' | 'webauthn.get';
  readonly challenge: string;
}

/**
 * Names the fault of what the client has signed. The library checks the same, but its errors have no codes; and it
 * accepts a credential that a page of somebody else has asked for in a frame.
 */
function assertClientData(clientDataJSON: string, { type, challenge, origins }: WantedClientData): void {
  const notified = JSON.parse(isoBase64URL.toUTF8String(clientDataJSON));
  const isFramed =
    (notified.crossOrigin !== undefined && notified.crossOrigin !== false) || notified.topOrigin !== undefined;
  if (isFramed) throw new FaultyPasskey('cross_origin');
  if (notified.type !== type) throw new FaultyPasskey('ceremony');
  if (notified.challenge !== challenge) throw new FaultyPasskey('challenge');
  if (!origins.includes(notified.origin)) throw new FaultyPasskey('origin');
}

interface WantedAuthenticator extends Pick<PasskeySettings, 'rpId'> {
  readonly requireUp: boolean;
  readonly requireUv: boolean;
}

/** Names the fault of what the authenticator has said, which the library checks too. */
function assertAuthenticator(authData: Bytes, { rpId, requireUp, requireUv }: WantedAuthenticator): void {
  const { rpIdHash, flags } = parseAuthenticatorData(authData);
  if (!hash('sha256', rpId, 'buffer').equals(rpIdHash)) throw new FaultyPasskey('rp_id');
  if (requireUp && !flags.up) throw new FaultyPasskey('user_presence');
  if (requireUv && !flags.uv) throw new FaultyPasskey('user_verification');
  if (flags.bs && !flags.be) throw new FaultyPasskey('backup_eligibility');
}

type Bytes = Uint8Array<ArrayBuffer>;

function withoutStatement(authData: Bytes): string {
  const entries = [
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ] as const;
  return isoBase64URL.fromBuffer(Uint8Array.from(isoCBOR.encode(new Map<string, never>(entries as never))));
}

/** Returns false for a key that is not on its curve, is of another kind, or would make each verification expensive. */
function isSoundKey(publicKey: Uint8Array<ArrayBuffer>): boolean {
  try {
    const key = createPublicKey({ format: 'jwk', key: jwkOf(decodeCredentialPublicKey(publicKey) as never) });
    const { modulusLength: bits = 2_048, publicExponent = 65_537n } = key.asymmetricKeyDetails ?? {};
    return bits >= 2_048 && bits <= 4_096 && publicExponent <= 65_537n;
  } catch {
    return false;
  }
}

function jwkOf(key: ReadonlyMap<number, unknown>): JsonWebKey {
  const { kty, alg, crv, x, y, n, e } = cose.COSEKEYS;
  const bytes = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url');
  switch (`${key.get(kty)} ${key.get(alg)}`) {
    case `${cose.COSEKTY.RSA} ${cose.COSEALG.RS256}`:
      return { kty: 'RSA', n: bytes(n), e: bytes(e) };
    case `${cose.COSEKTY.EC2} ${cose.COSEALG.ES256}`:
      if (key.get(crv) === cose.COSECRV.P256) return { kty: 'EC', crv: 'P-256', x: bytes(x), y: bytes(y) };
      break;
    case `${cose.COSEKTY.OKP} ${cose.COSEALG.EdDSA}`:
      if (key.get(crv) === cose.COSECRV.ED25519) return { kty: 'OKP', crv: 'Ed25519', x: bytes(x) };
  }
  throw new Error('key of another kind');
}
