import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { publicKeySet } from '../access-token/index.ts';
import { createIssuerSource, type IssuerSourceOptions } from './issuer-source.ts';

const keyOf = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
});
const keySet = (...kids: [string, ...string[]]) => {
  const [first, ...rest] = kids.map(keyOf);
  return publicKeySet({ keys: [first, ...rest] as never });
};
const metadataPath = '/.well-known/openid-configuration';

let server: Server;
let base: string;
/** Answers by path. An object is sent as JSON, and a number is a status. */
let answers: Record<string, unknown>;
let asked: string[];
let passed: number;
let errors: string[];

beforeEach(async () => {
  asked = [];
  errors = [];
  passed = 0;
  server = createServer((req, res) => {
    asked.push(req.url ?? '');
    const answer = answers[req.url ?? ''] ?? 404;
    const status = typeof answer === 'number' ? answer : 200;
    res.writeHead(status, { Connection: 'close', Location: '/elsewhere' });
    res.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answers = { [metadataPath]: metadata(base), '/keys': keySet('a') };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function metadata(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/keys`,
    access_token_max_lifetime_seconds: 600,
  };
}

const open = (options: Partial<IssuerSourceOptions> = {}) =>
  createIssuerSource({
    issuer: base,
    staleKeysSeconds: 3_600,
    onError: ({ message }) => errors.push(message),
    elapsed: () => passed,
    ...options,
  });
const kidsOf = ({ keys: { keys } }: { readonly keys: { readonly keys: readonly { readonly kid: string }[] } }) =>
  keys.map(({ kid }) => kid);

/** Waits for the work that the source does in the background. */
async function until(check: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!check()) {
    if (performance.now() > deadline) throw new Error('not so within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('the issuer source asks once for all waiting callers, and not again while the answer is recent', async () => {
  const source = open();
  const all = await Promise.all([source.get(), source.get(), source.get()]);
  expect(all.map(kidsOf)).toEqual([['a'], ['a'], ['a']]);
  passed += 290_000;
  await source.get();
  expect(asked).toEqual([metadataPath, '/keys']);
  expect(all[0].metadata).toEqual({ jwksUri: `${base}/keys`, ttlSeconds: 600 });
});

test('the issuer source answers from its copy while it asks again, and keeps the object if unchanged', async () => {
  const source = open();
  const first = await source.get();
  passed += 301_000;
  expect(await source.get()).toBe(first);
  await until(() => asked.length === 4 && (source.ageSeconds() ?? 999) < 300);
  expect(await source.get()).toBe(first);
});

test('the issuer source finds a new key at once on request, once a second at most', async () => {
  const source = open();
  await source.get();
  answers['/keys'] = keySet('a', 'b');
  passed += 1_001;
  await Promise.all(Array.from({ length: 50 }, () => source.reread()));
  expect(kidsOf(await source.get())).toEqual(['a', 'b']);
  expect(asked.length).toBe(4);
});

test('the issuer source keeps its copy while the issuer does not answer, for as long as is set', async () => {
  const source = open({ staleKeysSeconds: 1_000 });
  await source.get();
  answers = {};
  passed += 1_299_000;
  expect(kidsOf(await source.get())).toEqual(['a']);
  await until(() => errors.length === 1);
  passed += 2_000;
  await expect(source.get()).rejects.toThrow(`${base}${metadataPath}: status 404`);
  expect(source.current()).toBeUndefined();
  answers = { [metadataPath]: metadata(base), '/keys': keySet('c') };
  passed += 1_001;
  expect(kidsOf(await source.get())).toEqual(['c']);
});

test('the issuer source keeps the former keys if a later answer is wrong', async () => {
  const source = open();
  await source.get();
  answers['/keys'] = { keys: [{ kid: 'rsa', kty: 'RSA' }] };
  passed += 1_001;
  await source.reread();
  expect(errors).toEqual([expect.stringContaining('key rsa does not fit ES256 or EdDSA')]);
  expect(kidsOf(await source.get())).toEqual(['a']);
});

describe('refusals of the issuer source', () => {
  const good = () => metadata(base);

  test.each<[string, () => unknown, RegExp]>([
    ['the metadata of another issuer', () => metadata('https://evil.example'), /another issuer: "https:\/\/evil/],
    ['metadata without the URL of the keys', () => ({ ...good(), jwks_uri: undefined }), /no jwks_uri/],
    ['keys over plain HTTP from elsewhere', () => ({ ...good(), jwks_uri: 'http://192.0.2.1/keys' }), /over https/],
    ['keys that the metadata bring along', () => ({ ...good(), jwks_uri: 'data:,{"keys":[]}' }), /over https/],
    ['a life without end', () => ({ ...good(), access_token_max_lifetime_seconds: 86_401 }), /how long/],
    ['what is no JSON', () => '<html>', /openid-configuration: /],
    ['null', () => 'null', /no JSON object/],
    ['a redirection', () => 302, /openid-configuration: /],
    ['too much', () => JSON.stringify({ ...good(), padding: 'x'.repeat(70_000) }), /more than 65536 bytes/],
  ])('the issuer source refuses %s', async (_what, answer, message) => {
    answers[metadataPath] = answer();
    await expect(open().get()).rejects.toThrow(message);
  });

  test('the issuer source refuses keys over plain HTTP from another host, unless the caller names it', () => {
    expect(() => open({ issuer: 'http://auth.example.com' })).toThrow(/https/);
    expect(() => open({ issuer: 'http://auth.example.com', reachedAt: base })).not.toThrow();
  });
});

test.each(['', '/'])(
  'the metadata of an issuer with a path are asked for behind that path, which may end in "%s"',
  async (end) => {
    const issuer = `${base}/people${end}`;
    answers = {
      [`/people${metadataPath}`]: { ...metadata(issuer), jwks_uri: `${base}/people/keys` },
      '/people/keys': keySet('b'),
    };
    expect(kidsOf(await open({ issuer }).get())).toEqual(['b']);
    expect(asked).toEqual([`/people${metadataPath}`, '/people/keys']);
  },
);

test('the keys of a public issuer are found at the URL at which it is reached', async () => {
  const issuer = 'https://auth.example.com/';
  answers[metadataPath] = { ...metadata(issuer), jwks_uri: 'https://auth.example.com/keys' };
  expect(kidsOf(await open({ issuer, reachedAt: base }).get())).toEqual(['a']);
  answers[metadataPath] = { ...metadata(issuer), jwks_uri: 'https://elsewhere.example/keys' };
  await expect(open({ issuer, reachedAt: base }).get()).rejects.toThrow(/is not at the issuer/);
});
