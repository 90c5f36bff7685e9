import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import type { NewCredential, UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import {
  cose,
  decodeAttestationObject,
  decodeCredentialPublicKey,
  isoBase64URL,
  isoCBOR,
} from '@simplewebauthn/server/helpers';
import type { PasskeyFault } from './passkey-faults.ts';

/** `WEBAUTHN_RP_ID` and `WEBAUTHN_ORIGINS`. */
export interface PasskeySettings {
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** State of an authenticator, as a ceremony has told it. */
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
 * No attestation is asked for, so the statement of an authenticator that sends one is put aside unread, as clients
 * should do. Otherwise the library would parse certificates of strangers and fetch addresses that they name.
 */
export async function verifyNew(
  { rpId, origins }: PasskeySettings,
  credential: NewCredential,
  challenge: string,
): Promise<NewPasskey> {
  const { clientDataJSON, attestationObject, transports = [] } = credential.response;
  assertOwnPage(clientDataJSON);
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...credential,
      response: { clientDataJSON, attestationObject: withoutStatement(attestationObject) },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  });
  if (!verified) throw new Error('not verified');
  const { credential: made, credentialDeviceType, credentialBackedUp } = registrationInfo;
  if (made.id !== credential.id) throw new Error('the id is that of another credential');
  assertSoundKey(made.publicKey);
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
  assertOwnPage(response.clientDataJSON);
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...credential, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    credential: { id: credentialId, publicKey: Uint8Array.from(publicKey), counter: 0 },
    requireUserVerification: requireUv,
  });
  if (!verified) throw new Error('not verified');
  const { newCounter, userVerified, credentialDeviceType, credentialBackedUp } = authenticationInfo;
  return {
    counter: newCounter,
    isUserVerified: userVerified,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

interface Ceremony {
  readonly type: 'webauthn.create' | 'webauthn.get';
  readonly challenge: string;
  readonly requireUv: boolean;
}

/** Flags of the authenticator data (WebAuthn level 3, section 6.1). */
const flags = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10 };

/** Returns the first fault of a credential that was refused. The library names faults only in prose. */
export function findFault(
  settings: PasskeySettings,
  response: NewCredential['response'] | UsedCredential['response'],
  ceremony: Ceremony,
): PasskeyFault {
  try {
    const ofPage = pageFault(settings, JSON.parse(isoBase64URL.toUTF8String(response.clientDataJSON)), ceremony);
    const data =
      'attestationObject' in response
        ? decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)).get('authData')
        : isoBase64URL.toBuffer(response.authenticatorData);
    return ofPage ?? dataFault(settings, data, ceremony) ?? (ceremony.type === 'webauthn.get' ? 'signature' : 'key');
  } catch {
    return 'malformed';
  }
}

function pageFault(
  { origins }: PasskeySettings,
  client: { readonly [claim: string]: unknown },
  { type, challenge }: Ceremony,
): PasskeyFault | undefined {
  if (client.type !== type) return 'ceremony';
  if (client.challenge !== challenge) return 'challenge';
  if (isFramed(client)) return 'frame';
  return origins.some((each) => each === client.origin) ? undefined : 'origin';
}

/** Reads the hash of the RP id (32 bytes), and the flags that follow. */
function dataFault({ rpId }: PasskeySettings, data: Uint8Array, { requireUv }: Ceremony): PasskeyFault | undefined {
  const [shown] = data.subarray(32);
  if (shown === undefined) return 'malformed';
  const has = (flag: number) => (shown & flag) !== 0;
  if (!createHash('sha256').update(rpId).digest().equals(data.subarray(0, 32))) return 'rp_id';
  if (!has(flags.userPresent)) return 'user_presence';
  if (requireUv && !has(flags.userVerified)) return 'user_verification';
  return has(flags.backedUp) && !has(flags.backupEligible) ? 'backup' : undefined;
}

/** Refuses a credential that a page of somebody else has asked for in a frame. The library accepts it. */
function assertOwnPage(clientDataJSON: string): void {
  if (isFramed(JSON.parse(isoBase64URL.toUTF8String(clientDataJSON)))) throw new Error('cross origin');
}

function isFramed({ crossOrigin, topOrigin }: { readonly [claim: string]: unknown }): boolean {
  return (crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined;
}

function withoutStatement(attestationObject: string): string {
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData');
  const entries = [
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ] as const;
  return isoBase64URL.fromBuffer(Uint8Array.from(isoCBOR.encode(new Map<string, never>(entries as never))));
}

/** Refuses a key that does not fit its algorithm, is not on its curve, or would make each verification expensive. */
function assertSoundKey(publicKey: Uint8Array<ArrayBuffer>): void {
  const key = createPublicKey({ format: 'jwk', key: jwkOf(decodeCredentialPublicKey(publicKey) as never) });
  const { modulusLength: bits = 2_048, publicExponent = 65_537n } = key.asymmetricKeyDetails ?? {};
  if (bits < 2_048 || bits > 4_096 || publicExponent > 65_537n) throw new Error('RSA key of another size');
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
