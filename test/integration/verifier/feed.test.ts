import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redisKeys } from '@auth-account/redis';
import { generateSigningKey, loadKeyFile } from '@auth-account/tokens';
import type { VerifierOptions } from '@auth-account/verifier';
import { feedRevocations } from '@auth-account/verifier/feed';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { leave, refresh } from '../../support/api/groups.ts';
import { startTamperingProxy, type TamperingProxy } from '../../support/stores/tampering-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { internalServiceCredential, internalServiceSecretsFile } from '../../support/verifier/internal-services.ts';
import {
  keyPrefix,
  type OpenedVerifier,
  openVerifierFixture,
  refused,
  type VerifierFixture,
} from '../../support/verifier/verifier-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { denyMany, forgetMany } from './deny-many.ts';

const keys = redisKeys(keyPrefix);
let fixture: VerifierFixture;
let proxy: TamperingProxy;
/** Secrets of the api, which a test may change. */
let secretsFile: string;
let credential: string;

beforeAll(async () => {
  const { keysDir } = testEnvironment();
  secretsFile = join(keysDir, 'feed-test-secrets.json');
  await writeSecrets((await loadKeyFile(internalServiceSecretsFile(keysDir))).keys);
  credential = internalServiceCredential();
  fixture = await openVerifierFixture({ REVOCATION_FEED_SECRETS_FILE: secretsFile }, { keyFileIntervalMs: 20 });
  proxy = await startTamperingProxy(fixture.api.base);
});
afterAll(async () => {
  await proxy.close();
  await fixture.close();
});
beforeEach(() => proxy.behave());

const writeSecrets = (secrets: readonly object[]) => writeFile(secretsFile, JSON.stringify({ keys: secrets }));

/** Opens a resource server that reaches the api only by the proxy, and never Redis. */
function openInternalService(options: Partial<VerifierOptions> = {}): OpenedVerifier {
  return fixture.openVerifier({ reachedAt: proxy.base, revocations: feedRevocations({ credential }), ...options });
}

/** Returns the file that `authctl keys public` writes. */
const publicKeys = () => readFile(join(testEnvironment().keysDir, 'access-token-public-keys.json'), 'utf8');

const feed = '/api/v1/revocations';
const nonce = 'AAAAAAAAAAAAAAAAAAAAAA';
const ask = (body: object, shown = credential) => fixture.api.readRevocations(body, bearer(shown));
const claimsOf = (statement: string) =>
  JSON.parse(Buffer.from(String(statement.split('.')[1]), 'base64url').toString());

describe('a resource server that reads the feed', () => {
  // guarantees: resource-server-feed
  test('a resource server that reads the feed refuses a token after its logout, and the claims of a group that its user has left', async () => {
    const internalService = openInternalService();
    const [session, other] = [await newSession(fixture.api), await newSession(fixture.api)];
    for (const { access_token } of [session, other]) expect(await internalService.verdict(access_token)).toBe('good');
    await logOut(fixture.api, session);
    await internalService.until(session.access_token, refused);
    expect(await internalService.verdict(other.access_token)).toBe('good');
    expect((await leave(fixture.api, other)).status).toBe(200);
    await internalService.until(other.access_token, refused);
    expect(await internalService.verdict((await refresh(fixture.api, other)).access_token)).toBe('good');
    expect(internalService.reports).toEqual([]);
    internalService.close();
  });

  test('a resource server that reads the feed knows at its start what was revoked before, also if that takes several answers', async () => {
    const session = await newSession(fixture.api);
    const { until } = await fixture.denyList.recent(0);
    const many = Array.from({ length: 5_700 }, (_, i) => ({
      id: `many-${i}`,
      value: i % 2 ? '3' : 'none:SESSION_REVOKED',
      // Most of the denials have the same time. They are more than the 5,000 that fit into an answer.
      at: i < 5_200 ? until : until + i,
    }));
    await denyMany(fixture, many);
    await logOut(fixture.api, session);
    const internalService = openInternalService();
    expect(await internalService.verdict(session.access_token)).toBe(refused);
    expect(internalService.state().denials).toBeGreaterThan(many.length);
    internalService.close();
    await forgetMany(
      fixture,
      many.map(({ id }) => id),
    );
  });

  // guarantees: resource-server-feed
  test('a resource server accepts nothing while the list is not complete: the feed has no answer then, not an empty one', async () => {
    const session = await newSession(fixture.api);
    await fixture.admin.del(keys.denyListComplete);
    const answer = await ask({ nonce });
    expect([answer.status, answer.json.error_code]).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE']);
    const internalService = openInternalService();
    expect(await internalService.verdict(session.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    await fixture.completeDenyList();
    await internalService.until(session.access_token, 'good');
    internalService.close();
  });
});

describe('an attacker between the feed and a resource server', () => {
  /**
   * Returns true if the resource server accepts a tampered answer. If it accepts none, it has no copy and refuses the
   * token.
   */
  async function isDeceived(options: Partial<VerifierOptions> = {}): Promise<boolean> {
    const internalService = openInternalService(options);
    const session = await newSession(fixture.api);
    await eventually(
      'a report',
      () => internalService.reports.length > 0 || internalService.state().revocationsAgeSeconds !== undefined,
    );
    const found = await internalService.verdict(session.access_token);
    internalService.close();
    expect(String(internalService.reports.map((report) => 'error' in report && report.error))).not.toContain(
      credential.slice(-20),
    );
    return found !== 'ERR-DEPENDENCY-UNAVAILABLE';
  }

  const answerOf = (statement: string) => ({
    status: 200,
    text: JSON.stringify({ status: 'success', data: { statement } }),
  });
  const statementIn = (text: string): string => JSON.parse(text).data.statement;

  /** Replaces the statement of each answer. */
  function replace(change: (statement: string, sent: Record<string, string>) => string | Promise<string>): void {
    proxy.tamper(async (request, forward) => {
      const answer = await forward(request);
      if (request.path !== feed) return answer;
      return answerOf(await change(statementIn(answer.text), request.body as Record<string, string>));
    });
  }

  /** Changes the claims and keeps the signature. */
  const altered = (change: object) => (statement: string) => {
    const [head, , signature] = statement.split('.');
    const claims = Buffer.from(JSON.stringify({ ...claimsOf(statement), ...change })).toString('base64url');
    return [head, claims, signature].join('.');
  };

  beforeAll(async () => {
    await logOut(fixture.api, await newSession(fixture.api));
  });

  test('an attacker who only looks is not noticed', async () => {
    replace((statement) => statement);
    expect(await isDeceived()).toBe(true);
  });

  // guarantees: resource-server-feed
  test.each<[string, (statement: string, sent: Record<string, string>) => string | Promise<string>]>([
    ['empties the list', altered({ revoked: [], below: {} })],
    ['leads elsewhere', altered({ cursor: '9.none', more: true })],
    ['cuts the text', (statement) => statement.slice(0, -100)],
    ['leaves the signature out', (statement) => `${statement.split('.').slice(0, 2).join('.')}.`],
    [
      'signs nothing, and says so',
      (statement) => {
        const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'revocations+jwt' })).toString('base64url');
        return `${none}.${statement.split('.')[1]}.`;
      },
    ],
    [
      'answers with the statement for another resource server',
      async (_, sent) => (await ask(sent, internalServiceCredential('recipes'))).json.data.statement,
    ],
    [
      'answers with what another question got',
      async (_, sent) => (await ask({ ...sent, nonce: 'B'.repeat(22) })).json.data.statement,
    ],
    [
      'asks from a later cursor',
      async (statement, sent) => (await ask({ ...sent, cursor: claimsOf(statement).cursor })).json.data.statement,
    ],
    ['sends an access token', async () => (await newSession(fixture.api)).access_token],
  ])('an attacker who %s is not believed', async (_what, change) => {
    replace(change);
    expect(await isDeceived()).toBe(false);
  });

  // guarantees: resource-server-feed
  test('an attacker who repeats an earlier answer hides no logout for longer than the grace', async () => {
    const internalService = openInternalService({ graceSeconds: 60 });
    const session = await newSession(fixture.api);
    expect(await internalService.verdict(session.access_token)).toBe('good');
    let kept: string | undefined;
    replace((statement) => {
      kept ??= statement;
      return kept;
    });
    await eventually('an answer', () => kept !== undefined);
    await logOut(fixture.api, session);
    await eventually('the report', () => internalService.reports.some(({ kind }) => kind === 'revocations-away'));
    internalService.pass(62_000);
    expect(await internalService.verdict(session.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    internalService.close();
  });

  test('an attacker who leads the resource server to another host gets its secret nowhere', async () => {
    const seen: string[] = [];
    const elsewhere = await startTamperingProxy(fixture.api.base);
    elsewhere.tamper(async ({ headers }) => {
      seen.push(headers.authorization ?? '');
      return { status: 200, text: '{}' };
    });
    proxy.tamper(async (request, forward) =>
      request.path === feed ? { status: 307, text: '', location: elsewhere.base + request.path } : forward(request),
    );
    const internalService = openInternalService();
    await expect(internalService.ready()).rejects.toThrow('ERR-DEPENDENCY-UNAVAILABLE');
    expect(seen).toEqual([]);
    internalService.close();
    await elsewhere.close();
  });

  describe('an attacker who gives out keys', () => {
    /**
     * The attacker's own service, with its own keys and the issuer's name. The proxy leads the resource server there.
     */
    let forger: VerifierFixture;
    beforeAll(async () => {
      const own = join(testEnvironment().keysDir, 'forged-keys.json');
      await writeFile(own, JSON.stringify({ keys: [await generateSigningKey('ES256')] }));
      forger = await openVerifierFixture({ REVOCATION_FEED_SECRETS_FILE: secretsFile, ACCESS_TOKEN_KEYS_FILE: own });
    });
    afterAll(() => forger.close());

    const lead = () =>
      proxy.tamper(async ({ method, path, headers, body }) =>
        forger.api.send({ method, path, headers: { ...headers }, body }),
      );

    test('an attacker who gives out keys is believed if the resource server fetches them', async () => {
      lead();
      const internalService = openInternalService();
      const { access_token } = await newSession(forger.api);
      expect(await internalService.verdict(access_token)).toBe('good');
      internalService.close();
    });

    // guarantees: resource-server-feed
    test('an attacker who gives out keys is not believed if the resource server has a file of them', async () => {
      lead();
      const internalService = openInternalService({ readKeys: publicKeys });
      const { access_token } = await newSession(forger.api);
      expect(await internalService.verdict(access_token)).not.toBe('good');
      const own = await newSession(fixture.api);
      expect(await internalService.verdict(own.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
      proxy.behave();
      await internalService.until(own.access_token, 'good');
      internalService.close();
    });
  });
});
