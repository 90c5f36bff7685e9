/** Faults of passkeys, with their explanations; '' if the name explains itself. */
export const passkeyFaults = {
  malformed: 'no client data or authenticator data that can be read',
  ceremony: 'a creation in place of a use, or the other way round',
  challenge: 'of another request, account or session',
  frame: 'asked for in a frame',
  origin: 'not in `WEBAUTHN_ORIGINS`',
  rp_id: 'not of `WEBAUTHN_RP_ID`',
  user_presence: '',
  user_verification: '',
  backup: 'flags that contradict each other or the passkey',
  key: 'or id of a new passkey: unsound',
  signature: '',
  user_handle: 'of another account, or missing',
  unknown: 'the account has no such passkey',
} as const;
export type PasskeyFault = keyof typeof passkeyFaults;
