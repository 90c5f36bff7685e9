import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '@auth-account/local-stack';
import { loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { createForger, type Forger } from '../../support/api/token-forger.ts';
import { type Answer, send } from '../../support/http-client.ts';
import { startTamperingProxy, type TamperingProxy } from '../../support/stores/tampering-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { internalServiceCredential } from '../../support/verifier/internal-services.ts';
import {
  audience,
  issuer,
  openVerifierFixture,
  type VerifierFixture,
} from '../../support/verifier/verifier-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/**
 * Tests the resource servers of docs/examples with the real api. They are installed from the registries of their
 * languages, so only the long form does this (`npm run test:long internal-services`).
 */
const languages = (process.env.EXAMPLE_LANGUAGES ?? '').split(',').filter((name) => name !== '');
const examples = fileURLToPath(new URL('../../../docs/examples', import.meta.url));
const run = promisify(execFile);

/** Functions by language. Each installs a resource server in a directory, and returns the command that starts it. */
const installers: Readonly<Record<string, (dir: string) => Promise<readonly [string, ...string[]]>>> = {
  async python(dir) {
    const bin = join(dir, 'venv/bin');
    await run('python3', ['-m', 'venv', join(dir, 'venv')]);
    const requirements = join(dir, 'requirements.txt');
    await run(join(bin, 'pip'), ['install', '-q', '--disable-pip-version-check', '-r', requirements]);
    return [join(bin, 'python'), join(dir, 'main.py')];
  },
  async go(dir) {
    await run('go', ['build', '-o', join(dir, 'pantry'), '.'], { cwd: dir });
    return [join(dir, 'pantry')];
  },
};

test('the short form of the resource server tests installs nothing', () => {
  expect(Object.keys(installers)).toEqual(expect.arrayContaining(languages));
});

/** The tables of `describe.each` must not be empty. */
const described = languages.length > 0 ? describe.each(languages) : describe.skip.each(['no language']);

described('the resource server in %s', (language) => {
  let fixture: VerifierFixture;
  let proxy: TamperingProxy;
  let dir: string;
  let base: string;
  let program: ChildProcess;
  let forger: Forger;

  beforeAll(async () => {
    fixture = await openVerifierFixture();
    proxy = await startTamperingProxy(fixture.api.base);
    dir = await mkdtemp(join(tmpdir(), `internal-service-${language}-`));
    await cp(join(examples, language), dir, { recursive: true });
    const [command, ...args] = (await installers[language]?.(dir)) ?? [''];
    const port = String(await findFreePort());
    const credential = join(dir, 'credential');
    await writeFile(credential, `${internalServiceCredential()}\n`);
    const own = { ISSUER: issuer, AUDIENCE: audience, REACHED_AT: proxy.base, CREDENTIAL_FILE: credential, PORT: port };
    program = spawn(command, args, { env: { ...process.env, ...own }, stdio: 'inherit' });
    base = `http://127.0.0.1:${port}`;
    const { keys } = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
    forger = createForger({ key: keys[0], issuer, audience, sessionId: randomUUID(), at: at() });
    const { access_token } = await newSession(fixture.api);
    await eventually('the resource server to accept a token', async () => (await ask(access_token)).status === 200);
  }, 600_000);
  afterAll(async () => {
    program.kill();
    await proxy.close();
    await fixture.close();
    await rm(dir, { recursive: true, force: true });
  });

  const ask = (token: string, method = 'GET'): Promise<Answer> =>
    send(base, { method, path: '/pantry', headers: bearer(token) }).catch(
      () => ({ status: 0, headers: {}, text: '', json: undefined }) satisfies Answer,
    );
  const verdict = async (token: string) => {
    const { status, text } = await ask(token);
    return [status, JSON.parse(text).error_code];
  };
  const invalid = [401, 'IAD_JWT_ACCESS_INVALID'];

  const at = (age = 0) => Math.floor(Date.now() / 1_000) - age;
  /** Returns a token with these claims beside the right ones, signed by the service's key. */
  const signed = (claims: object = {}) => forger.signed(forger.header, { ...forger.claims, ...claims });

  test('a resource server accepts a good token and names its user', async () => {
    const { access_token, user_id, home_group_id } = await newSession(fixture.api);
    const { status, text } = await ask(access_token);
    expect([status, JSON.parse(text)]).toEqual([200, { user_id, home_group_id }]);
    expect((await ask(signed())).status).toBe(200);
  });

  test('a resource server distinguishes an expired token from an invalid one', async () => {
    expect(await verdict(signed({ iat: at(700), exp: at(100) }))).toEqual([401, 'IAD_JWT_ACCESS_EXPIRED']);
  });

  test.each<[string, () => string | Promise<string>]>([
    ['no token', () => ''],
    ['nonsense', () => 'abc'],
    ['another audience', () => signed({ aud: 'elsewhere' })],
    ['another issuer', () => signed({ iss: 'https://elsewhere.example' })],
    ['a life longer than any revocation is remembered', () => signed({ exp: at(-3_600) })],
    ['a date in the future', () => signed({ iat: at(-300), exp: at(-900) })],
    ['another signature', () => signed().replace(/.{10}$/, 'AAAAAAAAAA')],
    ['changed claims', () => signed().replace(/\.(.{20})/, '.AAAAAAAAAAAAAAAAAAAA')],
    ['no signature', () => forger.sealed({ ...forger.header, alg: 'none' }, forger.claims, '')],
    [
      'the key of somebody else',
      () => forger.signed({ ...forger.header, kid: 'retired' }, forger.claims, forger.retired),
    ],
    [
      'the public key as a secret (HS256)',
      () =>
        forger.hmac(
          { ...forger.header, alg: 'HS256' },
          forger.claims,
          Buffer.from(String(forger.material.key.x), 'base64url'),
        ),
    ],
    ['another typ', () => forger.signed({ ...forger.header, typ: 'JWT' }, forger.claims)],
    [
      'a statement of the feed',
      async () => {
        const headers = bearer(internalServiceCredential());
        const answer = await fixture.api.readRevocations({ nonce: 'A'.repeat(22) }, headers);
        return answer.json.data.statement;
      },
    ],
  ])('a resource server refuses %s', async (_what, token) => {
    expect(await verdict(await token())).toEqual(invalid);
  });

  /** Removes what only a bearer with two factors of the last 300 s may remove. */
  const remove = async (proof: { acr?: string; age?: number }) => {
    const { age, ...level } = proof;
    const auth_time = age === undefined ? {} : { auth_time: at(age) };
    return ask(signed({ ...level, ...auth_time }), 'DELETE');
  };

  test('a resource server accepts two recent factors', async () => {
    expect((await remove({ acr: '2', age: 30 })).status).toBe(200);
  });

  test.each<[string, Parameters<typeof remove>[0]]>([
    ['one factor', { acr: '1', age: 30 }],
    ['two factors of long ago', { acr: '2', age: 310 }],
    ['two factors of an unknown time', { acr: '2' }],
    ['a level that nobody knows', { acr: '3', age: 30 }],
    ['an older token', { age: 30 }],
  ])('a resource server asks the bearer of %s to step up, and still answers elsewhere', async (_what, proof) => {
    const { status, text, headers } = await remove(proof);
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="insufficient_user_authentication", max_age="300", acr_values="2"',
    ]);
    const details = { max_age: 300, acr_values: '2' };
    expect(JSON.parse(text)).toMatchObject({ error_code: 'ERR-STEP-UP-REQUIRED', details });
    expect((await ask(signed({ acr: proof.acr ?? '1' }))).status).toBe(200);
  });

  test('a resource server refuses a token after its logout', async () => {
    const session = await newSession(fixture.api);
    expect((await ask(session.access_token)).status).toBe(200);
    await logOut(fixture.api, session);
    const begin = performance.now();
    await eventually('the refusal', async () => (await ask(session.access_token)).status === 401);
    console.info(`${language}: refused ${Math.round(performance.now() - begin)} ms after the answer to the logout`);
    expect(await verdict(session.access_token)).toEqual(invalid);
  });

  test.each<[string, Parameters<TamperingProxy['tamper']>[0]]>([
    [
      'repeats an earlier answer',
      (() => {
        let kept: Promise<Answer> | undefined;
        return (request, forward) => {
          kept ??= forward(request);
          return kept;
        };
      })(),
    ],
    [
      'answers with what another question from the same place got',
      (request, forward) => forward({ ...request, body: { ...(request.body as object), nonce: 'B'.repeat(22) } }),
    ],
  ])('a resource server accepts nothing if an attacker %s for longer than the grace period', async (_what, answer) => {
    const session = await newSession(fixture.api);
    let count = 0;
    proxy.tamper((request, forward) => {
      if (request.path !== '/api/v1/revocations') return forward(request);
      count += 1;
      return answer(request, forward);
    });
    await eventually('an answer', () => count > 0);
    await eventually('the end of the grace', async () => (await ask(session.access_token)).status === 503);
    proxy.behave();
    await eventually('the feed', async () => (await ask(session.access_token)).status === 200);
  });
});
