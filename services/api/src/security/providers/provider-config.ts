import * as Type from '@auth-account/contracts/type';

/** Algorithms of ID tokens. A symmetric one is missing, because its key would have to be known to apps. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

type Problem = { readonly path: `/${string}`; readonly message: string };

const Text = Type.String({ minLength: 1, maxLength: 255 });

/** A provider as the operator describes it. */
const Provider = Type.Object(
  {
    preset: Type.Optional(Type.Enum(['apple', 'google'])),
    name: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' })),
    issuers: Type.Optional(Type.Array(Text, { minItems: 1 })),
    jwks_uri: Type.Optional(Type.String({ maxLength: 2_048 })),
    client_ids: Type.Array(Text, { minItems: 1 }),
    algorithms: Type.Optional(Type.Array(Type.Enum(algorithms), { minItems: 1 })),
    email_domains: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' }))),
  },
  { additionalProperties: false },
);
export type ProviderEntry = Type.Static<typeof Provider>;

/** The provider of OpenID Connect whose users may log in. */
export const providerConfig = {
  IDENTITY_PROVIDERS: Type.Array(Provider, {
    secret: true,
    default: [],
    check: checkProviders,
    description:
      'Providers of OpenID Connect by which people may log in, as JSON: see [the specification](specification/sign-in.md#providers). Empty: there are none',
  }),
};

function checkProviders(value: unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  const entries: Partial<ProviderEntry>[] = value.map((entry) => Object(entry));
  const names = entries.map(nameOf);
  return entries.flatMap((entry, at) => [
    ...problemsOf(entry).map((message): Problem => ({ path: `/${at}`, message })),
    ...(names.indexOf(nameOf(entry)) < at
      ? [{ path: `/${at}`, message: 'has the name of another provider' } as const]
      : []),
  ]);
}

function nameOf({ preset, name }: Partial<ProviderEntry>): string | undefined {
  return name ?? preset;
}

const ownFields = ['issuers', 'jwks_uri', 'algorithms', 'email_domains'] as const;

/** Names that stand in paths of their own, such as `auth/federated/link`. */
const reserved: readonly unknown[] = ['challenge', 'link'];

function problemsOf(entry: Partial<ProviderEntry>): string[] {
  if (reserved.includes(entry.name)) return [`no provider may be called ${entry.name}`];
  if (entry.preset !== undefined) {
    return ownFields.filter((field) => field in entry).map((field) => `the preset has its own ${field}`);
  }
  const missing = (['name', 'issuers', 'jwks_uri'] as const).filter((field) => !(field in entry));
  const isWrong = typeof entry.jwks_uri === 'string' && !isTrusted(entry.jwks_uri);
  return [
    ...missing.map((field) => `without a preset it must have ${field}`),
    ...(isWrong ? ['jwks_uri must be an https URL'] : []),
  ];
}

/** Keys over plain HTTP are trusted only from this host. */
function isTrusted(text: string): boolean {
  const url = URL.parse(text);
  return (
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
  );
}
