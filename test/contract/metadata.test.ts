import { readFileSync } from 'node:fs';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { newSession } from '../support/api/accounts.ts';
import { openApiChecker } from '../support/api/openapi-checker.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const issuer = 'https://auth.example.com/people/';
const checkedIn = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

describe('the metadata', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({
      TOKEN_ISSUER: issuer,
      ACCESS_TOKEN_TTL_SECONDS: '300',
      ACCESS_TOKEN_MAX_TTL_SECONDS: '900',
    });
  });
  afterAll(() => api.close());

  const get = (path: string) => api.send({ method: 'GET', path });

  /** RFC 8414 section 3.1 puts the issuer's path last. */
  test.each([
    [routes.getServerMetadata.path, routes.getServerMetadata.path],
    [`${routes.getServerMetadata.path}/people`, routes.getServerMetadata.path],
    [`${routes.getServerMetadata.path}/people/`, routes.getServerMetadata.path],
    [routes.getOpenidConfiguration.path, routes.getOpenidConfiguration.path],
  ])('the metadata at %s say only what is true', async (at, path) => {
    const answer = await get(at);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expect(answer.json).toEqual({
      issuer,
      jwks_uri: 'https://auth.example.com/people/.well-known/jwks.json',
      access_token_signing_alg_values_supported: ['ES256'],
      id_token_signing_alg_values_supported: ['ES256'],
      access_token_max_lifetime_seconds: 900,
      acr_values_supported: ['1', '2'],
      dpop_signing_alg_values_supported: ['ES256'],
    });
    expect(openApiChecker(checkedIn).answerFault({ path, method: 'get' }, answer)).toBeUndefined();
  });

  test.each(['/users', '/people/more', '/people//', '//people'])(
    'there are no metadata of another issuer: %s',
    async (path) => {
      expect((await get(routes.getServerMetadata.path + path)).status).toBe(404);
    },
  );

  test('the metadata describe the tokens that are issued, and lead to their keys', async () => {
    const { json: metadata } = await get(routes.getServerMetadata.path);
    // Whatever forwards requests to the api removes the issuer's path.
    const { json: keys } = await get(String(metadata.jwks_uri).replace(issuer, '/'));
    const { access_token } = await newSession(api);
    const [header, claims] = [decodeProtectedHeader(access_token), decodeJwt(access_token)];
    expect(claims.iss).toBe(metadata.issuer);
    expect(metadata.access_token_signing_alg_values_supported).toContain(header.alg);
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBeLessThanOrEqual(metadata.access_token_max_lifetime_seconds);
    expect(metadata.acr_values_supported).toContain(claims.acr);
    expect(keys.keys.map(({ kid }: { kid: string }) => kid)).toContain(header.kid);
  });
});
