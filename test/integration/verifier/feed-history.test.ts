import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAccessTokenSigner, generateSigningKey } from '@auth-account/tokens';
import type { VerifierOptions } from '@auth-account/verifier';
import { feedRevocations } from '@auth-account/verifier/feed';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { startTamperingProxy, type TamperingProxy } from '../../support/stores/tampering-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { internalServiceCredential } from '../../support/verifier/internal-services.ts';
import {
  audience,
  issuer,
  type OpenedVerifier,
  openVerifierFixture,
  refused,
  someClaims,
  type VerifierFixture,
} from '../../support/verifier/verifier-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { denyMany } from './deny-many.ts';

const feed = '/api/v1/revocations';
let fixture: VerifierFixture;
/**
 * An attacker between the feed and a resource server, who wants the resource server to forget what it has read, or to
 * miss a part.
 */
let proxy: TamperingProxy;

beforeAll(async () => {
  fixture = await openVerifierFixture();
  proxy = await startTamperingProxy(fixture.api.base);
});
afterAll(async () => {
  await proxy.close();
  await fixture.close();
});
beforeEach(() => proxy.behave());

const openInternalService = (options: Partial<VerifierOptions> = {}): OpenedVerifier =>
  fixture.openVerifier({
    reachedAt: proxy.base,
    revocations: feedRevocations({ credential: internalServiceCredential() }),
    ...options,
  });

describe('a change of the longest life', () => {
  const readKeys = () => readFile(join(testEnvironment().keysDir, 'access-token-public-keys.json'), 'utf8');

  /** Makes the resource server request the metadata again. */
  async function showUnknownKey(internalService: OpenedVerifier): Promise<void> {
    const keys = { keys: [await generateSigningKey('ES256')] } as const;
    const sign = createAccessTokenSigner({ keys, issuer, audience, ttlSeconds: 600 });
    internalService.pass(2_000);
    expect(await internalService.verdict(sign(someClaims))).not.toBe('good');
  }

  test.each<[string, Partial<VerifierOptions>, boolean]>([
    ['lowered for a while, with keys of its own', {}, false],
    ['lowered for a while, with keys from a file', { readKeys }, false],
    ['lowered from the start, with keys from a file', { readKeys }, true],
  ])('a denial outlives a longest life that is %s', async (_what, options, fromStart) => {
    const answers: (readonly string[])[] = [];
    let life: number | undefined = fromStart ? 1 : undefined;
    proxy.tamper(async (request, forward) => {
      const { status, text } = await forward(request);
      if (request.path === feed) answers.push(decodeJwt(JSON.parse(text).data.statement).revoked as string[]);
      if (request.path === feed || life === undefined || !request.path.startsWith('/.well-known/oauth'))
        return { status, text };
      return { status, text: JSON.stringify({ ...JSON.parse(text), access_token_max_lifetime_seconds: life }) };
    });
    const internalService = openInternalService(options);
    const revoked = await newSession(fixture.api);
    await logOut(fixture.api, revoked);
    await eventually('the denial', () => answers.some((ids) => ids.includes(revoked.session_id)));
    // The feed repeats the last second.
    await eventually('no news', () => answers.at(-1)?.length === 0);
    life = 1;
    await showUnknownKey(internalService);
    for (const _generation of [1, 2]) {
      internalService.pass(72_000);
      await eventually('the next reading', () => (internalService.state().revocationsAgeSeconds ?? 72) < 60);
    }
    life = undefined;
    await showUnknownKey(internalService);
    const other = await newSession(fixture.api);
    await internalService.until(other.access_token, 'good');
    expect(await internalService.verdict(revoked.access_token)).toBe(refused);
    internalService.close();
  });
});

describe('a list of several pages', () => {
  // Three pages: 5,000 denials fit into an answer.
  beforeAll(() =>
    denyMany(
      fixture,
      Array.from({ length: 10_100 }, (_, i) => ({ id: `many-${i}`, value: 'none:SESSION_REVOKED', at: 1_000 + i })),
    ),
  );

  const statementIn = (text: string): string => JSON.parse(text).data.statement;
  const answerOf = (statement: string) => ({ status: 200, text: JSON.stringify({ data: { statement } }) });

  /** Returns the verdict on a good token, and the number of answers that were changed. */
  async function readThrough(change?: (statement: string, next: (cursor: string) => Promise<string>) => unknown) {
    let changed = 0;
    let questions = 0;
    proxy.tamper(async (request, forward) => {
      const answer = await forward(request);
      if (request.path !== feed) return answer;
      questions += 1;
      const statement = statementIn(answer.text);
      if (change === undefined || decodeJwt(statement).more !== true || questions === 1) return answer;
      changed += 1;
      const next = async (cursor: string) =>
        statementIn((await forward({ ...request, body: { ...(request.body as object), cursor } })).text);
      return answerOf(String(await change(statement, next)));
    });
    const internalService = openInternalService();
    const session = await newSession(fixture.api);
    const found = await internalService.verdict(session.access_token);
    internalService.close();
    return { found, changed };
  }

  test('a list of several pages is read if nobody changes it', async () => {
    expect(await readThrough()).toEqual({ found: 'good', changed: 0 });
  });

  test('a list of several pages is not complete if a page is left out', async () => {
    const skipped = await readThrough((statement, next) => next(String(decodeJwt(statement).cursor)));
    expect(skipped.found).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    expect(skipped.changed).toBeGreaterThan(0);
  });

  test('a list of several pages is not complete if a page is said to be the last', async () => {
    const cut = await readThrough((statement) => {
      const [head, , signature] = statement.split('.');
      const claims = JSON.stringify({ ...decodeJwt(statement), more: false });
      return [head, Buffer.from(claims).toString('base64url'), signature].join('.');
    });
    expect(cut.found).toBe('ERR-DEPENDENCY-UNAVAILABLE');
    expect(cut.changed).toBeGreaterThan(0);
  });
});
