/** Reasons why a credential is refused, with their explanations in docs/audit.md. */
export const passkeyFaults = {
  unknown: 'the account has no such passkey, or no longer',
  malformed: 'not readable',
  ceremony: 'a creation in place of a use, or the other way round',
  challenge: '',
  origin: 'not one of `WEBAUTHN_ORIGINS`',
  cross_origin: 'asked for in a frame',
  rp_id: 'made for another domain',
  user_presence: 'nobody touched the authenticator',
  user_verification: '',
  user_handle: 'missing, or that of another account',
  backup_eligibility: 'it was lost, or contradicts the backup state',
  key: 'of another algorithm, or unsound',
  signature: '',
} as const satisfies Record<string, string>;
export type PasskeyFault = keyof typeof passkeyFaults;

/** Error by which a check names the fault. */
export class FaultyPasskey extends Error {
  readonly fault: PasskeyFault;

  constructor(fault: PasskeyFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Returns the fault for which a check of a credential has thrown. The library throws for what it cannot read. */
export function passkeyFaultOf(error: unknown): PasskeyFault {
  return error instanceof FaultyPasskey ? error.fault : 'malformed';
}
