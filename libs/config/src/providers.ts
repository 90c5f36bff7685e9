import { ed25519Names, type ProviderEntry } from './provider-config.ts';

/** A provider of OpenID Connect. */
export interface IdentityProvider {
  readonly name: string;
  /** Several, because Apple and Google each write their name in two forms. */
  readonly issuers: readonly string[];
  readonly jwksUri: string;
  /** The apps for which its tokens may be issued. */
  readonly clientIds: readonly string[];
  readonly algorithms: readonly string[];
  /** Domains of the email addresses that it gives out itself. For any other one, its word is no proof. */
  readonly emailDomains: readonly string[];
  /** True if `hd` names the domain of an organisation whose email addresses it gives out. */
  readonly hostsDomains: boolean;
  /** Undefined if codes are not exchanged, so that there are no refresh tokens. */
  readonly exchange: ProviderExchange | undefined;
  /** Form of the security events that it sends about people; undefined if there are none. */
  readonly notices: 'apple' | 'risc' | undefined;
}

/** Endpoints for authorization codes and refresh tokens, and the key by which this service proves itself there. */
export interface ProviderExchange {
  readonly tokenUrl: string;
  readonly revocationUrl: string;
  /** The provider's name in the JWT by which this service proves itself. */
  readonly audience: string;
  readonly teamId: string;
  readonly keyId: string;
  /** PEM, of a key on P-256. */
  readonly privateKey: string;
  /** The page to which the provider sends the code, by the client id of each app that is a web page. */
  readonly redirectUris: Readonly<Record<string, string>>;
}

interface Preset extends Omit<IdentityProvider, 'clientIds' | 'exchange'> {
  readonly endpoints?: Pick<ProviderExchange, 'tokenUrl' | 'revocationUrl'>;
}

/**
 * Facts from https://appleid.apple.com/.well-known/openid-configuration,
 * https://accounts.google.com/.well-known/openid-configuration, and Apple's pages
 * https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens and `…/revoke-tokens`.
 */
const presets: Readonly<Record<'apple' | 'google', Preset>> = {
  apple: {
    name: 'apple',
    // Since June 2025 the metadata names the second one. Tokens have either.
    issuers: ['https://appleid.apple.com', 'https://account.apple.com'],
    jwksUri: 'https://appleid.apple.com/auth/keys',
    algorithms: ['RS256'],
    emailDomains: ['privaterelay.appleid.com', 'icloud.com', 'me.com', 'mac.com'],
    hostsDomains: false,
    endpoints: {
      tokenUrl: 'https://appleid.apple.com/auth/token',
      revocationUrl: 'https://appleid.apple.com/auth/revoke',
    },
    notices: 'apple',
  },
  google: {
    name: 'google',
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
    algorithms: ['RS256'],
    emailDomains: ['gmail.com', 'googlemail.com'],
    hostsDomains: true,
    notices: undefined,
  },
};

/** Returns the providers of the configuration, by name. */
export function readProviders(entries: readonly ProviderEntry[]): ReadonlyMap<string, IdentityProvider> {
  return new Map(entries.map(readProvider).map((provider) => [provider.name, provider]));
}

function readProvider(entry: ProviderEntry): IdentityProvider {
  const { preset, name, client_ids: clientIds, notices } = entry;
  if (preset !== undefined) {
    const { endpoints, ...facts } = presets[preset];
    const exchange = endpoints && exchangeOf(entry, endpoints, facts.issuers);
    return { ...facts, name: name ?? preset, clientIds, exchange, notices: notices ?? facts.notices };
  }
  const { issuers = [], jwks_uri: jwksUri = '', email_domains: emailDomains = [] } = entry;
  const { token_endpoint: tokenUrl = '', revocation_endpoint: revocationUrl = '' } = entry;
  const exchange = exchangeOf(entry, { tokenUrl, revocationUrl }, issuers);
  const rules = { jwksUri, clientIds, algorithms: algorithmsOf(entry), emailDomains, hostsDomains: false };
  return { name: name ?? '', issuers, ...rules, exchange, notices };
}

/** Returns the algorithms of the entry. Either name of Ed25519 stands for both, because a provider may go over to the new one. */
function algorithmsOf({ algorithms = ['RS256'] }: ProviderEntry): readonly string[] {
  const others = algorithms.filter((name) => !ed25519Names.some((each) => each === name));
  return others.length === algorithms.length ? algorithms : [...others, ...ed25519Names];
}

function exchangeOf(
  { team_id: teamId, key_id: keyId, private_key: privateKey, redirect_uris: redirectUris = {} }: ProviderEntry,
  endpoints: Pick<ProviderExchange, 'tokenUrl' | 'revocationUrl'>,
  [audience = '']: readonly string[],
): ProviderExchange | undefined {
  if (teamId === undefined || keyId === undefined || privateKey === undefined) return;
  return { ...endpoints, audience, teamId, keyId, privateKey, redirectUris };
}
