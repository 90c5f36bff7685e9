import * as Type from '@auth-account/contracts/type';

type Check = (value: unknown, variables: Readonly<Record<string, unknown>>) => readonly Problem[];
type Problem = { readonly path: '' | `/${string}`; readonly message: string };

/** List of text, with a rule for each item. */
const listOf = (items: { readonly pattern: string }, check: Check, description: string) =>
  Type.Array(Type.String(items), { check, default: [], description });

/** SHA-256 of an Android app's signing certificate, as base64url without padding. */
const keyHash = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/;

/** Fingerprint of such a certificate, as Android's tools print it. */
const fingerprint = '(?:[0-9A-F]{2}:){31}[0-9A-F]{2}';

/** Settings of passkeys. They are on if `WEBAUTHN_RP_ID` is set. */
export const passkeyConfig = {
  WEBAUTHN_RP_ID: Type.Optional(
    Type.String({
      pattern: '^(?:localhost|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$',
      check: checkRpId,
      description:
        "Domain that passkeys belong to: the registrable domain of the apps, such as `example.com`, never the API's host. It cannot change later: no passkey moves to another domain. Unset: there are no passkeys",
    }),
  ),
  WEBAUTHN_ORIGINS: listOf(
    { pattern: '^(?:https://|http://localhost\\b|android:apk-key-hash:)' },
    checkOrigins,
    'Pages and apps that may use passkeys: `https://app.example.com` (also for an iOS app: `https://` and `WEBAUTHN_RP_ID`), `android:apk-key-hash:…` with the SHA-256 of the signing certificate as base64url',
  ),
  WEBAUTHN_RELATED_ORIGINS: listOf(
    { pattern: '^https://' },
    checkRelatedOrigins,
    'Pages on other domains that `/.well-known/webauthn` allows to use the passkeys of `WEBAUTHN_RP_ID`. `WEBAUTHN_ORIGINS` names them too',
  ),
  APPLE_APP_IDS: listOf(
    { pattern: '^[A-Z0-9]{10}\\.[A-Za-z0-9.-]+$' },
    () => [],
    'iOS apps for `/.well-known/apple-app-site-association`: team id, dot, bundle id',
  ),
  ANDROID_APPS: listOf(
    { pattern: `^[A-Za-z][A-Za-z0-9_]*(?:\\.[A-Za-z][A-Za-z0-9_]*)+=${fingerprint}$` },
    () => [],
    'Android apps for `/.well-known/assetlinks.json`: package, `=`, SHA-256 fingerprint of the signing certificate (`14:6D:E9:…`). An app with several certificates has an entry for each',
  ),
};

export type PasskeyConfig = Type.Static<Type.TObject<typeof passkeyConfig>>;

function checkRpId(_value: unknown, { WEBAUTHN_ORIGINS: origins }: Readonly<Record<string, unknown>>): Problem[] {
  return textsOf(origins).length > 0 ? [] : [{ path: '', message: 'WEBAUTHN_ORIGINS must name at least one origin' }];
}

function checkOrigins(value: unknown, variables: Readonly<Record<string, unknown>>): Problem[] {
  const { WEBAUTHN_RP_ID: rpId, WEBAUTHN_RELATED_ORIGINS: related } = variables;
  return problemsOf(value, (origin) => {
    if (origin.startsWith('android:')) {
      return keyHash.test(origin)
        ? undefined
        : 'must end in the 43 characters of a SHA-256 as base64url without padding';
    }
    const url = originOf(origin);
    if (url === undefined) return noOrigin;
    if (typeof rpId !== 'string' || textsOf(related).includes(origin)) return;
    const isOwn = url.hostname === rpId || url.hostname.endsWith(`.${rpId}`);
    return isOwn ? undefined : `must be on ${rpId} or a subdomain of it, or in WEBAUTHN_RELATED_ORIGINS too`;
  });
}

function checkRelatedOrigins(value: unknown): Problem[] {
  return problemsOf(value, (origin) => (originOf(origin) === undefined ? noOrigin : undefined));
}

function problemsOf(value: unknown, problemOf: (text: string) => string | undefined): Problem[] {
  return textsOf(value).flatMap((text, at): Problem[] => {
    const message = problemOf(text);
    return message === undefined ? [] : [{ path: `/${at}`, message }];
  });
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

const noOrigin = 'must be an origin over https: no path, no slash at its end, host in lower case, no port 443';

/** Returns the URL if the text is exactly its origin, and a page on it may use passkeys. */
function originOf(text: string): URL | undefined {
  const url = URL.parse(text);
  const isSecure = url?.protocol === 'https:' || url?.hostname === 'localhost';
  return isSecure && url?.origin === text ? url : undefined;
}
