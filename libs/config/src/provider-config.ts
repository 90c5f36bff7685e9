import { createPrivateKey } from 'node:crypto';
import * as Type from '@auth-account/contracts/type';
import type { CheckProblem } from './variable-schema.ts';

/** Names of signatures with the curve Ed25519. RFC 9864 gave them the second one. */
export const ed25519Names = ['EdDSA', 'Ed25519'] as const;
const rsaNames = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
/** Algorithms of ID tokens. A symmetric one is missing, because its key would have to be known to apps. */
const algorithms = [...rsaNames, 'ES256', 'ES384', 'ES512', ...ed25519Names] as const;

const Text = Type.String({ minLength: 1, maxLength: 255 });
const Address = Type.String({ maxLength: 2_048 });
const Addresses = Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', additionalProperties: Address });

/** A provider as the operator describes it. */
const Provider = Type.Object(
  {
    preset: Type.Optional(Type.Enum(['apple', 'google'])),
    name: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' })),
    issuers: Type.Optional(Type.Array(Text, { minItems: 1 })),
    jwks_uri: Type.Optional(Address),
    client_ids: Type.Array(Text, { minItems: 1 }),
    algorithms: Type.Optional(Type.Array(Type.Enum(algorithms), { minItems: 1 })),
    email_domains: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' }))),
    token_endpoint: Type.Optional(Address),
    revocation_endpoint: Type.Optional(Address),
    team_id: Type.Optional(Text),
    key_id: Type.Optional(Text),
    private_key: Type.Optional(Type.String({ maxLength: 4_096 })),
    redirect_uris: Type.Optional(Addresses),
    notices: Type.Optional(Type.Enum(['apple', 'risc'])),
  },
  { additionalProperties: false },
);
export type ProviderEntry = Type.Static<typeof Provider>;

/** The providers of OpenID Connect whose users may log in. */
export const providerConfig = {
  IDENTITY_PROVIDERS: Type.Array(Provider, {
    secret: true,
    default: [],
    check: checkProviders,
    description:
      'Providers of OpenID Connect by which people may log in, as JSON: see [the specification](specification/sign-in.md#providers). Empty: there are none. The worker revokes their tokens',
  }),
};

function checkProviders(value: unknown): CheckProblem[] {
  if (!Array.isArray(value)) return [];
  const entries: Partial<ProviderEntry>[] = value.map((entry) => Object(entry));
  const names = entries.map(nameOf);
  return entries.flatMap((entry, at) => [
    ...problemsOf(entry).map((message): CheckProblem => ({ path: `/${at}`, message })),
    ...(names.indexOf(nameOf(entry)) < at
      ? [{ path: `/${at}`, message: 'has the name of another provider' } as const]
      : []),
  ]);
}

function nameOf({ preset, name }: Partial<ProviderEntry>): string | undefined {
  return name ?? preset;
}

const endpoints = ['token_endpoint', 'revocation_endpoint'] as const;
const secrets = ['team_id', 'key_id', 'private_key'] as const;
const ownFields = ['issuers', 'jwks_uri', 'algorithms', 'email_domains', ...endpoints] as const;
/** Fields that only the other preset takes. */
const foreignFields = { apple: ['notices'], google: [...secrets, 'redirect_uris'] } as const;

/** Names that stand in paths of their own, such as `auth/federated/link`. */
const reserved: readonly unknown[] = ['challenge', 'link'];

function problemsOf(entry: Partial<ProviderEntry>): string[] {
  return [
    ...(reserved.includes(entry.name) ? [`no provider may be called ${entry.name}`] : []),
    ...(entry.preset === undefined ? problemsOfOwn(entry) : problemsOfPreset(entry, entry.preset)),
    ...problemsOfExchange(entry),
  ];
}

function problemsOfPreset(entry: Partial<ProviderEntry>, preset: 'apple' | 'google'): string[] {
  const foreign: readonly string[] = foreignFields[preset] ?? [];
  return [
    ...ownFields.filter((field) => field in entry).map((field) => `the preset has its own ${field}`),
    ...foreign.filter((field) => field in entry).map((field) => `the preset ${preset} takes no ${field}`),
    ...(preset === 'google' && entry.notices === 'apple' ? ['notices of Google are risc'] : []),
  ];
}

function problemsOfOwn(entry: Partial<ProviderEntry>): string[] {
  const missing = (['name', 'issuers', 'jwks_uri'] as const).filter((field) => !(field in entry));
  const wrong = (['jwks_uri', ...endpoints] as const).filter((field) => {
    const text = entry[field];
    return typeof text === 'string' && !isTrusted(text);
  });
  return [
    ...missing.map((field) => `without a preset it must have ${field}`),
    ...wrong.map((field) => `${field} must be an https URL`),
    ...(/[{}]/.test(String(entry.issuers)) ? ['issuers has a placeholder: name the issuer of each tenant'] : []),
  ];
}

/** Reports a part that is missing, and a key that would fail at the first login. */
function problemsOfExchange(entry: Partial<ProviderEntry>): string[] {
  const wanted = [...secrets, ...(entry.preset === undefined ? endpoints : [])];
  const missing = wanted.filter((field) => !(field in entry));
  const { private_key: key, client_ids, redirect_uris } = entry;
  const redirects = Object.entries(Object(redirect_uris) as Record<string, unknown>);
  const unknown = redirects.filter(([client]) => Array.isArray(client_ids) && !client_ids.includes(client));
  const wrong = redirects.filter(([, uri]) => typeof uri === 'string' && !isTrusted(uri));
  return [
    ...unknown.map(([client]) => `client_ids has no ${client}, which redirect_uris names`),
    ...wrong.map(([client]) => `redirect_uris must have an https URL for ${client}`),
    ...(missing.length < wanted.length || redirect_uris !== undefined
      ? missing.map((field) => `to exchange codes it must have ${field} too`)
      : []),
    ...(typeof key === 'string' && !isSigningKey(key) ? ['private_key must be a PEM key on P-256'] : []),
  ];
}

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** Keys over plain HTTP are trusted only from this host. */
function isTrusted(text: string): boolean {
  const url = URL.parse(text);
  return (
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
  );
}
