import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject, publicEncrypt } from 'node:crypto';
import {
  type CheckProblem,
  mongoConfig,
  providerConfig,
  redisConfig,
  runtimeConfig,
  SmtpSubscriber,
  SubscriberName,
  serverKeysConfig,
  smtpServerOf,
  tokenLifeConfig,
  versionConfig,
} from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { redisChecks } from '@auth-account/redis';
import { mongoChecks } from '@auth-account/stores/mongo-checks';

/** Standard Webhooks: 24 to 64 random bytes in base64. */
const Secret = Type.String({
  pattern: '^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
});

/** Public key with which secrets are encrypted. Further members are ignored (RFC 7517). */
const EncryptionKey = Type.Object({
  kty: Type.Enum(['EC', 'OKP', 'RSA']),
  alg: Type.Optional(Type.Enum(['ECDH-ES', 'ECDH-ES+A256KW', 'RSA-OAEP-256'])),
  kid: Type.Optional(Type.String({ minLength: 1 })),
});
export type EncryptionKey = Type.Static<typeof EncryptionKey>;

const WebhookSubscriber = Type.Object({
  name: SubscriberName,
  kind: Type.Literal('webhook'),
  // The URL has no user name and password, because they would not be sent.
  url: Type.String({ pattern: '^https?://[^\\s/?#@]+([/?#]\\S*)?$' }),
  // Exactly one of `secret` and `secrets` is set: see `checkSubscribers`.
  secret: Type.Optional(Secret),
  secrets: Type.Optional(Type.Array(Secret, { minItems: 1, maxItems: 5 })),
  encrypt_to: Type.Optional(EncryptionKey),
});
export type WebhookSubscriber = Type.Static<typeof WebhookSubscriber>;

/** Returns all secrets of a webhook. Each of them signs every delivery. */
export function secretsOf({ secret, secrets = [] }: Pick<WebhookSubscriber, 'secret' | 'secrets'>): readonly string[] {
  return secret === undefined ? secrets : [secret];
}

const QueueSubscriber = Type.Object({ name: SubscriberName, kind: Type.Literal('queue') });

/** Configuration of the worker: each property is an environment variable. */
export const workerConfig = Type.Object({
  ...runtimeConfig,
  ...versionConfig,
  ...mongoConfig(mongoChecks),
  ...redisConfig(redisChecks),
  ...tokenLifeConfig,
  ...serverKeysConfig,
  ...providerConfig,
  WORKER_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9082,
    description: "Port of the worker's `/livez`, `/readyz`, `/metrics`",
  }),
  EVENT_SUBSCRIBERS: Type.Array(Type.Union([WebhookSubscriber, QueueSubscriber, SmtpSubscriber]), {
    secret: true,
    check: checkSubscribers,
    default: [],
    description:
      'Subscribers to events: JSON array of `{"name","kind":"webhook","url","secret"}`, `{"name","kind":"queue"}` and ' +
      '`{"name":"mail","kind":"smtp","url":"smtps://user:password@host:465","from"}` with unique names. A mail server is greeted with the domain of `from`, or with `"ehlo_name"`. A secret is `whsec_` and base64 of 24 to 64 bytes; `"secrets":[…]` signs with each of several. A webhook with `"encrypt_to":<public JWK>` gets addresses and codes',
  }),
  EVENT_ALLOWED_HOSTS: Type.Array(Type.String({ pattern: '^(\\*\\.)?[A-Za-z0-9.-]+$|^\\[[0-9a-fA-F:.]+\\]$' }), {
    default: [],
    description: 'Allowed hosts of webhooks; `*.example.com` allows all subdomains. Empty: any host',
  }),
  MAIL_TEMPLATES_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Directory of templates of mails; each file replaces the one of the same name in `services/worker/templates/`',
    }),
  ),
  DELIVERY_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'Milliseconds within which a webhook or mail server must answer, including the connection',
  }),
  DELIVERY_CONNECT_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    default: 3_000,
    description: 'Milliseconds within which the connection to a webhook or mail server must be established',
  }),
  DELIVERY_CONCURRENCY: Type.Integer({
    minimum: 1,
    default: 10,
    description: 'Concurrent deliveries to one webhook or mail server, per worker and channel',
  }),
  DELIVERY_GIVE_UP_SECONDS: Type.Integer({
    minimum: 1,
    default: 86_400,
    description: 'Seconds after which a failing delivery is given up and becomes a dead letter',
  }),
  RELAY_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 1_000,
    description: 'Milliseconds between two reads of the outbox for events that were not published',
  }),
  RELAY_BATCH: Type.Integer({ minimum: 1, default: 100, description: 'Outbox rows leased at once' }),
  DENY_LIST_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 1_000,
    description: 'Milliseconds between two comparisons of the deny list with MongoDB',
  }),
  ERASURE_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description:
      'Milliseconds between two looks for accounts whose time of deletion has come, for email addresses that have lapsed, for second factors whose removal is due, and for tokens that providers must revoke',
  }),
  ERASURE_DELAY_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 60,
    description:
      'Seconds between the time of a deletion and the erasure: by then a login under way has ended, and the holder has been mailed that the deletion was ordered',
  }),
});
export type WorkerConfig = Type.Static<typeof workerConfig>;

/**
 * Checks EVENT_SUBSCRIBERS beyond its schema: each name is unique, a webhook has either `secret` or `secrets`, and its
 * host is among EVENT_ALLOWED_HOSTS if that list is not empty. Values that the schema refuses are skipped.
 */
function checkSubscribers(value: unknown, variables: Readonly<Record<string, unknown>>): CheckProblem[] {
  const { EVENT_ALLOWED_HOSTS: allowed } = variables;
  const hosts = Array.isArray(allowed) ? allowed.filter((host) => typeof host === 'string') : [];
  const items = Array.isArray(value) ? value.map(asRecord) : [];
  const names = items.map(({ name }) => name);
  return items.flatMap((item, index) => [
    ...duplicateName(item, names.slice(0, index), index),
    ...(item.kind === 'smtp' ? mailUrlProblems(item, index) : []),
    ...(item.kind === 'webhook'
      ? [...secretProblems(item, index), ...hostProblems(item, hosts, index), ...keyProblems(item, index)]
      : []),
  ]);
}

type Item = Readonly<Record<string, unknown>>;

function asRecord(value: unknown): Item {
  return typeof value === 'object' && value !== null ? (value as Item) : {};
}

function duplicateName({ name }: Item, before: readonly unknown[], index: number): CheckProblem[] {
  if (typeof name !== 'string' || !before.includes(name)) return [];
  return [{ path: `/${index}/name`, message: 'must not be the name of another subscriber' }];
}

function secretProblems({ secret, secrets }: Item, index: number): CheckProblem[] {
  if ((secret === undefined) !== (secrets === undefined)) return [];
  return [{ path: `/${index}/secret`, message: 'must be there, or secrets, and not both' }];
}

/** Reports a private key, which must not be here, and a key that would fail at the first event. */
function keyProblems({ encrypt_to }: Item, index: number): CheckProblem[] {
  if (typeof encrypt_to !== 'object' || encrypt_to === null) return [];
  const message = problemOfKey(encrypt_to as Item);
  return message === undefined ? [] : [{ path: `/${index}/encrypt_to`, message }];
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

function problemOfKey(jwk: Item): string | undefined {
  if ('d' in jwk || 'k' in jwk) return 'must be a public key';
  if (jwk.alg !== undefined && (jwk.alg === 'RSA-OAEP-256') !== (jwk.kty === 'RSA'))
    return 'must have an alg of its kty';
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    return isFit(key)
      ? undefined
      : 'must be a key for encryption: of a NIST curve, X25519, or RSA of 2,048 to 16,384 bits';
  } catch {
    return 'must be a JWK';
  }
}

function isFit(key: KeyObject): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails = {} } = key;
  const { modulusLength = 0, namedCurve = '', publicExponent = 0n } = asymmetricKeyDetails;
  // With the exponents 0 and 1 anybody could read the secret, and with an even exponent nobody could.
  const isStrong = modulusLength >= 2_048 && publicExponent > 1n && publicExponent % 2n === 1n;
  return (asymmetricKeyType === 'x25519' || curves.includes(namedCurve) || isStrong) && canEncrypt(key);
}

/** Tries the key, because OpenSSL reads some keys that it refuses to use, such as a point of small order. */
function canEncrypt(key: KeyObject): boolean {
  try {
    if (key.asymmetricKeyType === 'rsa') publicEncrypt({ key, oaepHash: 'sha256' }, Buffer.alloc(32));
    else diffieHellman({ publicKey: key, privateKey: ephemeralFor(key) });
    return true;
  } catch {
    return false;
  }
}

function ephemeralFor({ asymmetricKeyDetails: { namedCurve } = {} }: KeyObject): KeyObject {
  return namedCurve === undefined
    ? generateKeyPairSync('x25519').privateKey
    : generateKeyPairSync('ec', { namedCurve }).privateKey;
}

const wrongUrl = (index: number): CheckProblem => ({
  path: `/${index}/url`,
  message: 'must be a URL, with user and password percent-encoded',
});

/** Reads the URL as a delivery does, because a password such as `100%` passes every other check. */
function mailUrlProblems({ url }: Item, index: number): CheckProblem[] {
  if (typeof url !== 'string') return [];
  try {
    smtpServerOf({ url, from: '' });
    return [];
  } catch {
    return [wrongUrl(index)];
  }
}

function hostProblems({ url }: Item, hosts: readonly string[], index: number): CheckProblem[] {
  if (typeof url !== 'string') return [];
  const host = URL.parse(url)?.hostname;
  if (host === undefined) return [wrongUrl(index)];
  if (hosts.length === 0 || hosts.some((allowed) => allows(allowed.toLowerCase(), host))) return [];
  return [{ path: `/${index}/url`, message: 'must have a host of EVENT_ALLOWED_HOSTS' }];
}

function allows(allowed: string, host: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}
