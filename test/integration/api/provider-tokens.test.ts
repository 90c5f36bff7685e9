import { generateKeyPairSync, hash } from 'node:crypto';
import { type IdentityProvider, readProviders } from '@auth-account/config';
import { startProvider } from '@auth-account/local-stack/provider';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { base64url, SignJWT } from 'jose';
import { createProviderVerifiers } from '../../../services/api/src/security/providers/id-tokens.ts';
// Loaded later otherwise, by one of the tests.
import '../../../services/api/src/security/providers/provider-keys.ts';
import '../../../services/api/src/security/providers/verify-id-token.ts';
import { send } from '../../support/http-client.ts';
import { providerDocuments } from './provider-documents.ts';

let issuer: Awaited<ReturnType<typeof startProvider>>;
let passedMs: number;
let errors: string[];
let results: string[];
const nonce = 'the nonce';
const claims = { aud: 'app', sub: 'somebody', nonce };

let askedBefore: number;

// One provider for all tests, because its keys take longer to make than the tests.
beforeAll(async () => {
  issuer = await startProvider();
});
beforeEach(() => {
  issuer.behave({});
  askedBefore = issuer.asked();
  passedMs = 0;
  errors = [];
  results = [];
  // No stall of the machine ends a request for keys.
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(() => issuer.close());

/** Returns the number of requests for keys in this test. */
const asked = () => issuer.asked() - askedBefore;

const secondMs = 1_000;
const risk = 'https://schemas.openid.net/secevent/risc/event-type';
const provider = (change: Partial<IdentityProvider> = {}): IdentityProvider => ({
  name: 'office',
  issuers: ['https://other.example', issuer.issuer],
  jwksUri: issuer.jwksUri,
  clientIds: ['app', 'app.android'],
  algorithms: ['RS256', 'ES256'],
  emailDomains: ['office.example'],
  hostsDomains: false,
  exchange: undefined,
  notices: undefined,
  ...change,
});

type Deps = Parameters<typeof createProviderVerifiers>[1];

/** Returns a verifier of a provider's tokens, with keys of its own. */
function open(change: Partial<IdentityProvider> = {}, deps: Partial<Deps> = {}) {
  const verify = openBoth(change, deps);
  return (token: string) => verify.idToken(token, nonce);
}

/** Returns a verifier of a provider's security events. */
const openSecurityEvents = (change: Partial<IdentityProvider>) => openBoth(change).notice;

function openBoth(change: Partial<IdentityProvider>, deps: Partial<Deps> = {}) {
  return createProviderVerifiers(provider(change), {
    fetch,
    onKeys: () => undefined,
    onError: ({ message }) => errors.push(message),
    onToken: (result) => results.push(result),
    elapsed: () => passedMs,
    now: () => new Date(Date.now() + passedMs),
    ...deps,
  });
}
const sign = (change: object = {}, header?: Parameters<typeof issuer.sign>[1]) =>
  issuer.sign({ ...claims, ...change }, header);
const unavailable = expect.objectContaining({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });

describe('an ID token', () => {
  test.each(['RS256', 'ES256'] as const)('an ID token of %s names the person', async (alg) => {
    const token = await sign({ email: 'cook@office.example', email_verified: true, name: 'Anna' }, { alg });
    expect(await open()(token)).toEqual({
      ...{ provider: 'office', sub: 'somebody', clientId: 'app', name: 'Anna' },
      ...{ email: 'cook@office.example', isOwnEmail: true },
    });
  });

  test.each([
    ['EdDSA', 'EdDSA'],
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
    ['Ed25519', 'Ed25519'],
  ] as const)('an ID token of a provider whose algorithm is set as %s may call it %s', async (set, alg) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    issuer.behave({ body: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'ed', alg }] }) });
    const entry = { name: 'office', issuers: [issuer.issuer], jwks_uri: issuer.jwksUri, client_ids: ['app'] };
    const verify = open(readProviders([{ ...entry, algorithms: [set] }]).get('office'));
    const token = new SignJWT({ ...claims, iss: issuer.issuer })
      .setProtectedHeader({ alg, kid: 'ed' })
      .setIssuedAt()
      .setExpirationTime('5 min')
      .sign(privateKey);
    expect(await verify(await token)).toMatchObject({ sub: 'somebody' });
  });

  test.each([
    ['plain', nonce],
    ['as hexadecimal SHA-256', hash('sha256', nonce, 'hex')],
    ['as base64url SHA-256', hash('sha256', nonce, 'base64url')],
  ])('an ID token may have the nonce %s', async (_, form) => {
    expect(await open()(await sign({ nonce: form }))).toMatchObject({ sub: 'somebody' });
  });

  const now = () => Math.floor(Date.now() / 1_000);
  const wrong: [fault: string, of: string, () => object][] = [
    ['audience', 'another app', () => ({ aud: 'other' })],
    ['audience', 'our app and another', () => ({ aud: ['app', 'other'] })],
    ['audience', 'no app', () => ({ aud: undefined })],
    ['audience', 'another party', () => ({ azp: 'other' })],
    ['audience', 'our app and another party', () => ({ aud: ['app', 'other'], azp: 'other' })],
    ['audience', 'another app and our party', () => ({ aud: 'other', azp: 'app' })],
    ['issuer', 'another issuer', () => ({ iss: 'https://accounts.google.com' })],
    ['nonce', 'another nonce', () => ({ nonce: 'other' })],
    ['nonce', 'no nonce', () => ({ nonce: undefined })],
    ['subject', 'nobody', () => ({ sub: undefined })],
    ['subject', 'a letter beyond ASCII', () => ({ sub: 'someb\u00f6dy' })],
    ['subject', '256 characters', () => ({ sub: 'x'.repeat(256) })],
    ['subject', 'nobody, with a number', () => ({ sub: 7 })],
    ['time', 'the past', () => ({ iat: now() - 900, exp: now() - 61 })],
    ['time', 'the distant past', () => ({ iat: now() - 3_700, exp: now() + 600 })],
    ['time', 'the future', () => ({ iat: now() + 120, exp: now() + 600 })],
    ['time', 'no end', () => ({ exp: undefined })],
    ['time', 'no beginning', () => ({ iat: undefined })],
    ['time', 'tomorrow', () => ({ nbf: now() + 120 })],
  ];
  // guarantees: wrong-provider-token
  test.each(wrong)('an ID token with the wrong %s, for or of %s, is refused', async (fault, _, change) => {
    expect(await open()(await sign(change()))).toBeUndefined();
    expect(results).toEqual([fault]);
  });

  const claimsOfAll = [
    'iss',
    'sub',
    'aud',
    'azp',
    'exp',
    'iat',
    'nbf',
    'nonce',
    'email',
    'email_verified',
    'hd',
    'name',
  ];
  test.each([...claimsOfAll, 'jti', 'events'])(
    'a signed token whose %s has another type is no error',
    async (claim) => {
      const proved = { email: 'cook@office.example', email_verified: true };
      // The first has no text: to make one of it throws.
      for (const value of [{ toString: 'x' }, ['x'], 7, null]) {
        const token = await sign({ ...proved, jti: 'notice', events: {}, [claim]: value });
        const person = await open({ hostsDomains: true })(token);
        expect(person?.isOwnEmail ?? false).toBe(
          person !== undefined && claim !== 'email_verified' && claim !== 'email',
        );
        for (const notices of ['apple', 'risc'] as const) await openSecurityEvents({ notices })(token);
      }
    },
  );

  test.each(['sub', 'type', 'is_private_email', 'subject', 'reason', 'identifiers', 'user', 'id', 'format'])(
    'a signed security event token whose %s has another type is no error',
    async (field) => {
      for (const value of [{ toString: 'x' }, ['x'], 7, null]) {
        const apple = { type: 'email-disabled', sub: 'somebody', [field]: value };
        const iss = issuer.issuer;
        const forms = ['aliases', 'opaque', 'complex'].map((format) => ({ format, [field]: value }));
        const subjects = [value, { iss: value, sub: 'somebody' }, { iss, sub: value }, ...forms];
        const risc = subjects.map((subject) => [`${risk}/${subjects.indexOf(subject)}`, { subject, reason: value }]);
        const events = { ...Object.fromEntries(risc), [`${risk}/sessions-revoked`]: { subject: value } };
        const open = (notices: 'apple' | 'risc', said: unknown) =>
          sign({ jti: 'notice', events: said, sub_id: subjects.at(-1) }).then(openSecurityEvents({ notices }));
        expect(await open('apple', apple)).toMatchObject({ id: 'notice' });
        expect(await open('apple', JSON.stringify(apple))).toMatchObject({ id: 'notice' });
        expect(await open('risc', events)).toMatchObject({ id: 'notice' });
      }
    },
  );

  // answers: better-auth CVE-2026-134312, https://nvd.nist.gov/vuln/detail/CVE-2026-134312
  // The text "false" was read as a verified email address.
  test.each(['false', 'False', 'TRUE', '1', '', 1])(
    'an ID token whose email_verified is %j verifies no email address',
    async (email_verified) => {
      const person = await open()(await sign({ email: 'cook@office.example', email_verified }));
      expect(person).toMatchObject({ email: 'cook@office.example', isOwnEmail: false });
    },
  );

  test('an ID token for another of the apps is accepted, with its party', async () => {
    expect(await open()(await sign({ aud: 'app', azp: 'app.android' }))).toBeDefined();
  });

  test('an ID token may also name the provider’s own project, if our app is its party', async () => {
    const named = await open()(await sign({ aud: ['project', 'app'], azp: 'app' }));
    expect(named).toMatchObject({ clientId: 'app' });
  });

  test.each(['some body|7 ~', 'x'.repeat(255)])('the subject %j is that of a person', async (sub) => {
    expect(await open()(await sign({ sub }))).toMatchObject({ sub });
  });

  test.each(['at+jwt', 'application/at+jwt', 'logout+jwt', 'secevent+JWT'])(
    'a token of the type %s is no ID token',
    async (typ) => {
      expect(await open()(await sign({}, { typ }))).toBeUndefined();
      expect(results).toEqual(['type']);
      expect(await open()(await sign({}, { typ: 'JWT' }))).toBeDefined();
    },
  );

  test('the name in an ID token is given on as a person could type it', async () => {
    const named = async (name: string) => (await open()(await sign({ name })))?.name;
    expect(await named('\u202eAnna\r\nLee\ud83d\udc69\u200d\ud83c\udf73')).toBe(
      'Anna Lee\ud83d\udc69\u200d\ud83c\udf73',
    );
    expect(await named('x'.repeat(80))).toBe('x'.repeat(64));
    expect(await named(' \u200b\u00ad ')).toBeUndefined();
  });

  // guarantees: wrong-provider-token
  test('an ID token with a wrong signature or algorithm is refused', async () => {
    const token = await sign();
    const [head = '', body = '', signature = ''] = token.split('.');
    const none = `${base64url.encode('{"alg":"none"}')}.${body}.`;
    const flipped = `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const hmac = await new SignJWT({ ...claims, iss: issuer.issuer })
      .setIssuedAt()
      .setExpirationTime('5m')
      .setProtectedHeader({ alg: 'HS256', kid: 'RS256-1' })
      .sign(new TextEncoder().encode('a public key as a secret, 32 bytes and more'));
    const verify = open();
    expect(await Promise.all([none, flipped, hmac, 'a.b.c', ''].map(verify))).toEqual(Array(5).fill(undefined));
    const onlyRsa = open({ algorithms: ['RS256'] });
    expect(await onlyRsa(await sign({}, { alg: 'ES256' }))).toBeUndefined();
    passedMs += 31 * secondMs;
    await verify(await sign({}, { kid: 'unknown' }));
    await verify(token);
    const faults = ['algorithm', 'algorithm', 'malformed', 'malformed', 'signature'];
    expect(results.toSorted()).toEqual(['accepted', 'algorithm', ...faults, 'key'].toSorted());
  });
});

describe('the email address in an ID token', () => {
  const proof = { email: 'cook@office.example', email_verified: true };
  const opened = async (change: object, of: Partial<IdentityProvider> = {}) =>
    open(of)(await sign({ ...proof, ...change }));

  // answers: Logto CVE-2026-55216, https://github.com/logto-io/logto/security/advisories/GHSA-gc94-xqg8-v8r7
  // Logins by Azure AD and OAuth 2 were linked past the check of email_verified, and so took over accounts.
  test('an email address is proved only by the provider that gives it out, and only if the token says so', async () => {
    expect(await opened({ email_verified: 'true' })).toMatchObject({ isOwnEmail: true });
    expect(await opened({ email: 'cook@OFFICE.example' })).toMatchObject({ isOwnEmail: true });
    for (const change of [{ email_verified: false }, { email_verified: 'false' }, { email_verified: undefined }]) {
      expect(await opened(change)).toMatchObject({ email: 'cook@office.example', isOwnEmail: false });
    }
    for (const email of ['cook@elsewhere.example', 'cook@sub.office.example', 'cook@office.example.org']) {
      expect(await opened({ email })).toMatchObject({ email, isOwnEmail: false });
    }
    expect(await opened({ hd: 'elsewhere.example', email: 'cook@elsewhere.example' })).toMatchObject({
      isOwnEmail: false,
    });
  });

  test('an email address of an organisation is proved by the provider that hosts it', async () => {
    const google = { hostsDomains: true };
    const email = 'cook@pantry.example';
    expect(await opened({ email, hd: 'pantry.example' }, google)).toMatchObject({ isOwnEmail: true });
    expect(await opened({ email, hd: 'other.example' }, google)).toMatchObject({ isOwnEmail: false });
    expect(await opened({ email }, google)).toMatchObject({ isOwnEmail: false });
  });

  test.each(['not an address', 'кухня@example.com', `${'x'.repeat(250)}@example.com`, 7, null])(
    'the value %p is no email address',
    async (email) => {
      expect(await opened({ email })).toMatchObject({ email: undefined, isOwnEmail: false });
    },
  );
});

async function textAt(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  return (await send(origin, { method: 'GET', path: pathname })).text;
}

describe('the keys of a provider', () => {
  test('a provider’s keys are fetched once for any number of tokens, and kept as the answer says', async () => {
    issuer.behave({ cacheControl: 'public, max-age=900' });
    const verify = open();
    const token = await sign();
    await Promise.all(Array.from({ length: 100 }, () => verify(token)));
    passedMs += 890 * secondMs;
    await verify(token);
    expect(asked()).toBe(1);
    passedMs += 20 * secondMs;
    expect(await verify(await sign({ iat: undefined }))).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test.each([
    ['no-store, max-age=900', '', 60],
    ['max-age=900, No-Cache', '', 60],
    ['public', '', 300],
    ['max-age=30', '', 60],
    ['max-age=900', '100', 800],
    ['max-age=900', 'unknown', 900],
    ['max-age=999999', '', 86_400],
  ])('a provider’s keys are kept as Cache-Control %j and Age %j say: for %i s', async (control, age, seconds) => {
    const kept: number[] = [];
    const text = await textAt(issuer.jwksUri);
    const answered = async () => new Response(text, { headers: { 'Cache-Control': control, Age: age } });
    const verify = open({}, { fetch: answered, onKeys: (until) => kept.push(until), elapsed: () => 0 });
    await verify(await sign());
    expect(kept).toEqual([seconds * secondMs]);
  });

  // guarantees: unknown-provider-keys
  test('a provider’s keys are fetched once for a flood of tokens with unknown keys', async () => {
    const verify = open();
    await verify(await sign());
    passedMs += 31 * secondMs;
    const tokens = await Promise.all(Array.from({ length: 200 }, (_, at) => sign({}, { kid: `unknown-${at}` })));
    expect(new Set(await Promise.all(tokens.map(verify)))).toEqual(new Set([undefined]));
    expect(asked()).toBe(2);
    // The provider may have published it since, so the token is not refused for good.
    passedMs += 10 * secondMs;
    const later = { code: 'ERR-DEPENDENCY-UNAVAILABLE', retryAfterSeconds: 20 };
    await expect(verify(tokens[0] ?? '')).rejects.toMatchObject(later);
    expect(asked()).toBe(2);
    passedMs += 20 * secondMs;
    expect(await verify(tokens[0] ?? '')).toBeUndefined();
    expect(asked()).toBe(3);
  });

  test('a key that its provider replaces under the same id is fetched again', async () => {
    const [old, other] = [await startProvider(), await startProvider()];
    try {
      const elsewhere = { issuers: [other.issuer, old.issuer], jwksUri: other.jwksUri };
      const keys = async (url: string) => new Response(await textAt(url));
      let url = old.jwksUri;
      let fetches = 0;
      const count = async () => {
        fetches += 1;
        return keys(url);
      };
      const verify = open(elsewhere, { fetch: count });
      expect(await verify(await old.sign(claims))).toBeDefined();
      url = other.jwksUri;
      const token = await other.sign(claims);
      expect(await verify(token)).toBeUndefined();
      passedMs += 31 * secondMs;
      expect([await verify(token), await verify(await old.sign(claims))]).toEqual([expect.anything(), undefined]);
      expect(fetches).toBe(2);
    } finally {
      await Promise.all([old.close(), other.close()]);
    }
  });

  test('a set with a byte order mark, and with members that are no keys, has the provider’s keys', async () => {
    const { keys } = JSON.parse(await textAt(issuer.jwksUri));
    const text = `\ufeff${JSON.stringify({ keys: [null, 'key', ...keys] })}`;
    expect(await open({}, { fetch: async () => new Response(text) })(await sign())).toBeDefined();
  });

  test('a provider’s new keys count as soon as a token has them, and removed ones no longer', async () => {
    const shared = issuer;
    issuer = await startProvider();
    try {
      const verify = open();
      const old = await sign();
      expect(await verify(old)).toBeDefined();
      await issuer.rotate(true);
      passedMs += 31 * secondMs;
      expect([await verify(await sign()), await verify(old)]).toEqual([expect.anything(), expect.anything()]);
      await issuer.rotate(false);
      passedMs += 31 * secondMs;
      expect(await verify(await sign())).toBeDefined();
      passedMs += 31 * secondMs;
      expect(await verify(old)).toBeUndefined();
    } finally {
      await issuer.close();
      issuer = shared;
    }
  });

  // guarantees: unknown-provider-keys
  test('a provider’s keys are used for an hour more while it is down, but no unknown ones', async () => {
    issuer.behave({ cacheControl: 'max-age=300' });
    const verify = open();
    await verify(await sign());
    const unknown = await sign({}, { kid: 'unknown' });
    issuer.behave({ status: 500 });
    passedMs += 301 * secondMs;
    expect(await verify(await sign())).toBeDefined();
    await expect(verify(unknown)).rejects.toEqual(unavailable);
    expect(errors).toEqual([expect.stringContaining('/keys: status 500')]);
    passedMs += 3_601 * secondMs;
    await expect(verify(await sign())).rejects.toEqual(unavailable);
    issuer.behave({});
    passedMs += 6 * secondMs;
    expect(await verify(await sign({ iat: Math.floor((Date.now() + passedMs) / 1_000), exp: 2e9 }))).toBeDefined();
  });

  test.each([
    ['a redirection', { status: 302 }],
    ['an answer without JSON', { body: '<html>' }],
    ['an answer without a set', { body: '{}' }],
    ['an empty set', { body: '{"keys":[]}' }],
    ['too large an answer', { body: JSON.stringify({ keys: [{ kty: 'x'.repeat(300_000) }] }) }],
  ])('a provider’s keys are not there after %s, and the provider is left alone for 5 s', async (_, behaviour) => {
    issuer.behave(behaviour);
    const verify = open();
    const token = await sign();
    await expect(verify(token)).rejects.toEqual(unavailable);
    passedMs += 5 * secondMs - 1;
    await expect(verify(token)).rejects.toEqual(unavailable);
    expect([asked(), errors.length]).toEqual([1, 1]);
    issuer.behave({});
    passedMs += 1;
    expect(await verify(token)).toBeDefined();
  });

  test('a provider’s keys are not there if it does not answer in 3 s', async () => {
    const timeouts: number[] = [];
    const timeOut = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      timeouts.push(ms);
      return AbortSignal.abort(new DOMException('it took too long', 'TimeoutError'));
    });
    const verify = open();
    await expect(verify(await sign())).rejects.toEqual(unavailable);
    timeOut.mockRestore();
    expect([timeouts, errors]).toEqual([[3 * secondMs], [expect.stringContaining('it took too long')]]);
  });
});

describe('the presets of providers', () => {
  const { keyMembers, ...documents } = providerDocuments;
  const names = ['apple', 'google'] as const;
  const presets = readProviders(names.map((preset) => ({ preset, client_ids: [documents[preset].clientId] })));
  const named = (name: (typeof names)[number]) => ({ ...provider(), ...presets.get(name), jwksUri: issuer.jwksUri });

  test.each(names)('the preset of %s is as the provider describes itself', (preset) => {
    const { metadata, clientId } = documents[preset];
    const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const secrets = {
      team_id: 'T',
      key_id: 'K',
      private_key: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    };
    const [exchanging] = readProviders([{ preset, client_ids: [clientId], ...secrets }]).values();
    expect(exchanging).toMatchObject({
      issuers: expect.arrayContaining([...metadata.issuers]),
      jwksUri: metadata.jwks_uri,
      algorithms: metadata.id_token_signing_alg_values_supported,
    });
    const { tokenUrl, revocationUrl } = exchanging?.exchange ?? {};
    const endpoints = preset === 'apple' ? [metadata.token_endpoint, metadata.revocation_endpoint] : [];
    expect([tokenUrl, revocationUrl].filter((url) => url !== undefined)).toEqual(endpoints);
  });

  const tokens = names.flatMap((name) => documents[name].tokens.map((token) => [name, token.iss, token] as const));
  test.each(tokens)('the presets accept the token that %s documents, with the issuer %s', async (name, _, token) => {
    const proved = await open(named(name))(await sign({ aud: documents[name].clientId, ...token }));
    expect(proved).toMatchObject({ provider: name, sub: token.sub, email: token.email, isOwnEmail: true });
  });

  test('the presets read keys of the form that both providers publish', async () => {
    const { origin, pathname } = new URL(issuer.jwksUri);
    const { keys } = (await send(origin, { method: 'GET', path: pathname })).json as { keys: { kty: string }[] };
    const ours = keys.filter(({ kty }) => kty === 'RSA').map((key) => Object.keys(key).sort());
    expect(ours).toEqual(ours.map(() => keyMembers));
    expect(ours.length).toBeGreaterThan(1);
  });

  // guarantees: wrong-provider-token
  test('the presets refuse each other’s tokens', async () => {
    const token = await sign({ ...documents.apple.tokens[0], aud: documents.google.clientId });
    expect(await open(named('google'))(token)).toBeUndefined();
    expect(await open(named('apple'))(token)).toBeUndefined();
  });
});
