import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../support/api/token-api.ts';
import { createForger, type Forger } from '../support/api/token-forger.ts';
import { logOutRaw, type RawAnswer, upgradeRaw } from '../support/api/token-wire.ts';
import {
  type GatewayFixture,
  openGatewayFixture,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway-fixture.ts';
import { serviceEnvironment } from '../support/service-environment.ts';
import { forgeriesOf, spellingsOf } from './forgeries/token-forgeries.ts';

/** Number of tokens of each kind that are sent over the wire: every idea, but not every position of every character. */
const samplesPerKind = 25;

let tokens: TokenFixture;
let api: TokenApi;
let fixture: GatewayFixture;
let gateway: TestGateway;
let forger: Forger;
let forged: string[];

beforeAll(async () => {
  tokens = await openTokenFixture();
  api = await tokens.start();
  fixture = await openGatewayFixture();
  gateway = await startTestGateway(fixture, {}, { now: tokens.clock.now });
  await waitUntil(async () => (await gateway.unreadiness()).length === 0, { what: 'readiness', timeoutMs: 60_000 });
  const { keys } = await loadKeyFile(serviceEnvironment('').ACCESS_TOKEN_KEYS_FILE ?? '');
  const at = Math.floor(tokens.clock.now() / 1_000);
  const settings = { issuer: 'https://auth.local', audience: 'food-storage' } as const;
  forger = createForger({ ...settings, key: keys[0], sessionId: randomUUID(), at });
  const kinds = Object.values({ ...forgeriesOf(forger), ...spellingsOf(forger) });
  forged = [...new Set(kinds.flatMap((all) => sample(all.filter(fitsIntoHeader))))];
});
afterAll(async () => {
  await gateway.close();
  await fixture.close();
  await tokens.close();
});

/** The gateway answers 431 if the headers of a request are longer than 16 KiB. */
const fitsIntoUpgrade = (token: string) => Buffer.byteLength(token) < 15_500;

/** Returns `samplesPerKind` of the tokens, spread over the list. */
function sample(all: readonly string[]): string[] {
  const step = Math.max(1, all.length / samplesPerKind);
  return Array.from({ length: Math.min(samplesPerKind, all.length) }, (_, i) => all[Math.floor(i * step)] as string);
}

/**
 * Returns false for line ends and NUL, which end a header, and for white space around a value, which is no part of it
 * (RFC 9110 section 5.5).
 */
function fitsIntoHeader(token: string): boolean {
  return !/[\r\n\0]/.test(token) && token.trim() === token && token !== '';
}

/** Returns the answers that are not the contract's 401, with the token. */
async function faultsOf(
  all: readonly string[],
  ask: (token: string) => Promise<RawAnswer>,
): Promise<{ token: string; fault: unknown }[]> {
  const faults: { token: string; fault: unknown }[] = [];
  const waiting = [...all];
  const lane = async () => {
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) {
      const answer = await ask(token).catch((error: unknown) => ({
        status: 0,
        headers: new Map(),
        json: String(error),
      }));
      if (!isContract401(answer)) faults.push({ token, fault: [answer.status, answer.json] });
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return faults;
}

function isContract401({ status, headers, json }: RawAnswer): boolean {
  const code = json?.error_code;
  return (
    status === 401 &&
    (code === 'IAD_JWT_ACCESS_INVALID' || code === 'IAD_JWT_ACCESS_EXPIRED') &&
    Object.keys(json).join() === 'error_code,message,details' &&
    headers.get('content-type') === 'application/json' &&
    headers.get('x-error-code') === code &&
    /^Bearer\b/.test(headers.get('www-authenticate') ?? '')
  );
}

test('the forged tokens are several hundred, of every kind', () => {
  expect(forged.length).toBeGreaterThanOrEqual(250);
});

describe('the api', () => {
  test('the api accepts the genuine token', async () => {
    expect(await logOutRaw(api.base, forger.genuine)).toMatchObject({
      status: 404,
      json: { error_code: 'ERR-LOGOUT-TARGET-NOT-FOUND' },
    });
  });

  // guarantees: forged-access-token
  test('the api answers 401 to every forged token', async () => {
    expect(await faultsOf(forged, (token) => logOutRaw(api.base, token))).toEqual([]);
  });
});

describe('the gateway', () => {
  const upgrade = (token: string, place: 'header' | 'subprotocol') =>
    upgradeRaw(gateway.base, { sessionId: forger.material.sessionId, token, place });

  test('the gateway accepts the genuine token in the header and as a subprotocol', async () => {
    expect((await upgrade(forger.genuine, 'header')).status).toBe(101);
    expect((await upgrade(forger.genuine, 'subprotocol')).status).toBe(101);
  });

  test('the gateway answers 401 to every forged token in the header', async () => {
    const short = forged.filter(fitsIntoUpgrade);
    expect(short.length).toBeGreaterThanOrEqual(250);
    expect(await faultsOf(short, (token) => upgrade(token, 'header'))).toEqual([]);
  });

  // guarantees: stream-opens-for-token
  test('the gateway answers 401 to every forged token as a subprotocol', async () => {
    // A comma and the white space around it separate subprotocols, so cannot be part of a token.
    const listed = forged.filter((token) => fitsIntoUpgrade(token) && !/[,\s]/.test(token));
    expect(listed.length).toBeGreaterThanOrEqual(200);
    expect(await faultsOf(listed, (token) => upgrade(token, 'subprotocol'))).toEqual([]);
  });
});

test('a token longer than all headers may be ends its connection, and the servers go on', async () => {
  const token = 'x'.repeat(200_000);
  for (const ask of [
    (text: string) => logOutRaw(api.base, text),
    (text: string) => upgradeRaw(gateway.base, { sessionId: forger.material.sessionId, token: text, place: 'header' }),
  ]) {
    const answer = await ask(token).then(
      ({ status }) => status,
      () => 'cut',
    );
    expect([431, 'cut']).toContain(answer);
    expect((await ask(forger.genuine)).status).not.toBe(401);
  }
});
