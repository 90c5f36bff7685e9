/** A person as their provider knows them. */
export interface VerifiedIdentity {
  readonly provider: string;
  /** The provider's id of the person, which never changes. */
  readonly sub: string;
  /** The app for which the token was issued. */
  readonly clientId: string;
  /** Address that the provider names; undefined if it names none that an account could have. */
  readonly email: string | undefined;
  /** True if the provider has given out the address itself and says that it is this person's. */
  readonly isOwnAddress: boolean;
  readonly name: string | undefined;
}

/** Returns the person to whom the provider has issued the token; undefined if the token does not count. */
export type VerifyIdToken = (token: string, nonce: string) => Promise<VerifiedIdentity | undefined>;
