import type { ProviderEntry } from './provider-config.ts';

/** A provider of OpenID Connect. */
export interface IdentityProvider {
  readonly name: string;
  /** Several, because Apple and Google each write their name in two forms. */
  readonly issuers: readonly string[];
  readonly jwksUri: string;
  /** The apps for which its tokens may be issued. */
  readonly clientIds: readonly string[];
  readonly algorithms: readonly string[];
  /** Domains of the addresses that it gives out itself. For any other address, its word is no proof. */
  readonly emailDomains: readonly string[];
  /** True if `hd` names the domain of an organisation whose addresses it gives out. */
  readonly hostsDomains: boolean;
}

/** A person as their provider knows them. */
export interface VerifiedIdentity {
  readonly provider: string;
  /** The provider's id of the person, which never changes. */
  readonly sub: string;
  /** Address that the provider names; undefined if it names none that an account could have. */
  readonly email: string | undefined;
  /** True if the provider has given out the address itself and says that it is this person's. */
  readonly isOwnAddress: boolean;
  readonly name: string | undefined;
}

/** Returns the person to whom the provider has issued the token; undefined if the token does not count. */
export type VerifyIdToken = (token: string, nonce: string) => Promise<VerifiedIdentity | undefined>;

type Preset = Omit<IdentityProvider, 'clientIds'>;

/** Facts from https://appleid.apple.com/.well-known/openid-configuration and https://accounts.google.com/.well-known/openid-configuration. */
const presets: Readonly<Record<'apple' | 'google', Preset>> = {
  apple: {
    name: 'apple',
    // The second one is that of tokens since June 2025.
    issuers: ['https://appleid.apple.com', 'https://account.apple.com'],
    jwksUri: 'https://appleid.apple.com/auth/keys',
    algorithms: ['RS256'],
    emailDomains: ['privaterelay.appleid.com', 'icloud.com', 'me.com', 'mac.com'],
    hostsDomains: false,
  },
  google: {
    name: 'google',
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
    algorithms: ['RS256'],
    emailDomains: ['gmail.com', 'googlemail.com'],
    hostsDomains: true,
  },
};

/** Returns the providers of the configuration, by name. */
export function readProviders(entries: readonly ProviderEntry[]): ReadonlyMap<string, IdentityProvider> {
  return new Map(entries.map(readProvider).map((provider) => [provider.name, provider]));
}

function readProvider(entry: ProviderEntry): IdentityProvider {
  const { preset, name, client_ids: clientIds } = entry;
  if (preset !== undefined) return { ...presets[preset], name: name ?? preset, clientIds };
  const { issuers = [], jwks_uri: jwksUri = '', algorithms: own = ['RS256'], email_domains: emailDomains = [] } = entry;
  return { name: name ?? '', issuers, jwksUri, clientIds, algorithms: own, emailDomains, hostsDomains: false };
}
