import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, logOut, newSession, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { openStream } from '../support/gateway/push-client.ts';
import { send } from '../support/http-client.ts';
import { startTestServices, type TestServices } from '../support/processes/test-services.ts';
import { untilUnchanged } from '../support/until-unchanged.ts';

/** Facts that docs/apps.md relies on and that no other test shows. */

let services: TestServices;
beforeAll(async () => {
  services = await startTestServices();
});
afterAll(() => services.close());

const refresh = ({ refresh_token }: Pick<TokenPair, 'refresh_token'>) => services.api.refreshTokens({ refresh_token });

/** Opens the session's stream, and returns it after its `hello`. */
async function streamOf({ session_id, access_token }: TokenPair) {
  const stream = await openStream(services.gateway.base, { sessionId: session_id, token: access_token });
  expect(await stream.next()).toMatchObject({ type: 'hello', session_id });
  return stream;
}

describe('a logout that waits for the network', () => {
  // guarantees: late-logout
  test('a late logout needs the refresh token only, whatever answers were lost', async () => {
    const waiting = await newSession(services.api);
    const lost = await refresh(waiting);
    const repeated = await refresh(waiting);
    expect([lost.status, repeated.status]).toEqual([200, 200]);
    const { access_token } = repeated.json.data;
    expect((await logOut(services.api, { ...waiting, access_token })).status).toBe(200);
    expect((await logOut(services.api, { ...waiting, access_token })).status).toBe(404);
    const after = await refresh(waiting);
    expect(after.status).toBe(401);
    expect(after.json).toMatchObject({ error_code: 'IAD_JWT_REFRESH_STOLEN', details: { reason: 'logged_out' } });
  });

  test('a late logout closes the push stream of a newer session too, if sent with the access token of that', async () => {
    // An answer does not wait long for Redis, so a machine that stalls may lose the message to the gateway.
    const lost = () => services.api.metric('auth_revocation_announcements_lost_total');
    const { newer, stream } = await untilUnchanged(lost, async () => {
      const waiting = await newSession(services.api);
      const newer = await logIn(services.api, waiting.email);
      const stream = await streamOf(newer);
      expect((await logOut(services.api, { ...waiting, access_token: newer.access_token })).status).toBe(200);
      return { newer, stream };
    });
    expect(await stream.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
    expect((await refresh(newer)).status).toBe(200);
  });
});

test('a leave whose answer was lost gets 401, and repeated after the refresh it leaves the new household too', async () => {
  const member = await newSession(services.api);
  const leave = (tokens: TokenPair) => services.api.leaveGroup(bearer(tokens));
  const lost = await leave(member);
  expect([lost.status, (await leave(member)).status]).toEqual([200, 401]);
  const { data } = (await refresh(member)).json;
  expect(data.home_group_id).toBe(lost.json.data.home_group_id);
  const again = await leave(data);
  expect(again.status).toBe(200);
  expect(again.json.data.home_group_id).not.toBe(data.home_group_id);
});

test('the gateway answers a plain request to a stream in the same way, whatever its token', async () => {
  const { access_token, push_stream_path } = await newSession(services.api);
  const base = services.gateway.base.replace('ws:', 'http:');
  for (const token of [access_token, 'no-token']) {
    const answer = await send(base, {
      method: 'GET',
      path: push_stream_path,
      headers: bearer({ access_token: token }),
    });
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ error_code: 'ERR-ROUTE-NOT-FOUND' });
  }
});
