import { generateKeyPairSync } from 'node:crypto';
import { ConfigError, loadConfig } from '@auth-account/config';
import { describe, expect, test } from '@jest/globals';
import { workerConfig } from './config.ts';

const stores = { MONGODB_URI: 'mongodb://localhost', REDIS_URL: 'redis://localhost', SERVER_KEYS_FILE: '/keys.json' };
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const next = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const webhook = (name: string, rest: object = { secret }) => ({
  name,
  kind: 'webhook',
  url: `https://${name}.example.com/events`,
  ...rest,
});

function keyOf(type: 'x25519' | 'ed25519' | 'ec' | 'rsa', half: 'publicKey' | 'privateKey' = 'publicKey') {
  const pairs = {
    x25519: () => generateKeyPairSync('x25519'),
    ed25519: () => generateKeyPairSync('ed25519'),
    ec: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    rsa: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  };
  return pairs[type]()[half].export({ format: 'jwk' });
}

const bytes = (length: number, byte: number) => Buffer.alloc(length, byte).toString('base64url');

function load(subscribers: readonly object[], hosts = '') {
  const env = { ...stores, EVENT_SUBSCRIBERS: JSON.stringify(subscribers), EVENT_ALLOWED_HOSTS: hosts };
  return loadConfig(workerConfig, { env });
}

function problemOf(subscribers: readonly object[], hosts?: string): string {
  try {
    load(subscribers, hosts);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ expected }) => expected).join();
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('EVENT_SUBSCRIBERS', () => {
  test('EVENT_SUBSCRIBERS takes webhooks with one secret or several, and queues', () => {
    const subscribers = [webhook('a'), webhook('b', { secrets: [next, secret] }), { name: 'c', kind: 'queue' }];
    expect(load(subscribers).EVENT_SUBSCRIBERS).toEqual(subscribers);
  });

  test('EVENT_SUBSCRIBERS has every problem reported at once, without secrets', () => {
    const subscribers = [
      webhook('a'),
      { name: 'a', kind: 'queue' },
      webhook('b', {}),
      webhook('c', { secret, secrets: [next] }),
      webhook('d', { secret, url: 'http://10.0.0.1/' }),
    ];
    const problem = problemOf(subscribers, '*.example.com');
    expect(problem.split('; ').slice(1)).toEqual([
      '/1/name must not be the name of another subscriber',
      '/2/secret must be there, or secrets, and not both',
      '/3/secret must be there, or secrets, and not both',
      '/4/url must have a host of EVENT_ALLOWED_HOSTS',
    ]);
    expect(problem).not.toContain(secret);
  });

  test('EVENT_SUBSCRIBERS takes mail servers, and public keys of webhooks, with all of their members', () => {
    const mail = { kind: 'smtp', from: 'Kitchen <no-reply@kitchen.example>' };
    const subscribers = [
      { ...mail, name: 'a', url: 'smtps://user:p%40ss@mail.example.com:465' },
      { ...mail, name: 'b', url: 'smtp://localhost', from: 'no-reply@kitchen.example', starttls: false },
      ...(['x25519', 'ec', 'rsa'] as const).map((type) => webhook(type, { secret, encrypt_to: keyOf(type) })),
    ];
    expect(load(subscribers, '*.example.com').EVENT_SUBSCRIBERS).toEqual(subscribers);
  });

  test.each([
    ['another scheme', { url: 'http://mail.example.com' }],
    ['a path', { url: 'smtp://mail.example.com/x' }],
    ['no host', { url: 'smtp://' }],
    ['no URL', { url: 'smtp://mail.example.com:port' }],
    ['a password that is not percent-encoded', { url: 'smtps://user:100%pure@mail.example.com' }],
    ['a greeting that is no domain', { ehlo_name: 'mail server' }],
    ['a sender without an email address', { from: 'Kitchen' }],
    ['a sender that adds a line', { from: 'a\nBcc: b <a@b>' }],
    ['two senders', { from: 'a@b, c@d' }],
  ])('EVENT_SUBSCRIBERS refuses a mail server with %s', (_what, fields) => {
    const good = { name: 'a', kind: 'smtp', url: 'smtp://mail.example.com', from: 'a@b.example' };
    expect(() => load([good])).not.toThrow();
    expect(() => load([{ ...good, ...fields }])).toThrow(ConfigError);
  });

  test.each([
    ['a private key', keyOf('x25519', 'privateKey'), 'must be a public key'],
    ['half a key', { kty: 'OKP', crv: 'X25519' }, 'must be a JWK'],
    ['a key for signatures', keyOf('ed25519'), 'must be a key for encryption'],
    ['an algorithm of another kind', { ...keyOf('ec'), alg: 'RSA-OAEP-256' }, 'must have an alg of its kty'],
    ['an exponent that leaves secrets as they are', { ...keyOf('rsa'), e: 'AQ' }, 'must be a key for encryption'],
    ['an exponent that leaves nothing of them', { ...keyOf('rsa'), e: 'AA' }, 'must be a key for encryption'],
    ['an even exponent, which nobody can invert', { ...keyOf('rsa'), e: 'Ag' }, 'must be a key for encryption'],
    ['a modulus that is no product of primes', { ...keyOf('rsa'), n: bytes(256, 0xfe) }, 'must be a key for'],
    ['a modulus that is too long', { ...keyOf('rsa'), n: bytes(2_125, 0xff) }, 'must be a key for encryption'],
    ['a point of small order', { kty: 'OKP', crv: 'X25519', x: bytes(32, 0) }, 'must be a key for encryption'],
  ])('EVENT_SUBSCRIBERS refuses to encrypt to %s', (_what, encrypt_to, problem) => {
    expect(problemOf([webhook('a', { secret, encrypt_to })])).toContain(`/0/encrypt_to ${problem}`);
  });

  test('EVENT_SUBSCRIBERS allows only the hosts of EVENT_ALLOWED_HOSTS, if there are any', () => {
    expect(() => load([webhook('a')], 'A.example.com,other.example')).not.toThrow();
    expect(() => load([webhook('a')], '*.example.com')).not.toThrow();
    for (const hosts of ['example.com', '*.a.example.com', 'xa.example.com', 'le.com']) {
      expect(problemOf([webhook('a')], hosts)).toContain('/0/url must have a host');
    }
  });

  test('EVENT_SUBSCRIBERS is refused as a whole if it is no list or holds anything else', () => {
    expect(problemOf([{ name: 1 }])).toContain('/0/name must be string');
    expect(problemOf({ a: 1 } as never)).toContain('JSON array');
  });
});
