import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@auth-account/local-stack';
import { createAccessTokenSigner } from '@auth-account/tokens';
import { type KeyEntry, publicKeySet } from '@auth-account/verifier/access-token';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newSigningKey } from '../../support/api/token-forger.ts';
import { upgradeRaw } from '../../support/api/token-wire.ts';
import { type GatewayFixture, openGatewayFixture } from '../../support/gateway/gateway-fixture.ts';
import { get } from '../../support/http-client.ts';
import { type ServiceProcess, startGatewayProcess } from '../../support/processes/service-process.ts';

let dir: string;
let file: string;
let fixture: GatewayFixture;

beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-gateway-keys-'));
  file = join(dir, 'gateway-keys.json');
});
afterEach(() => rm(dir, { recursive: true }));

/** Replaces the file as a whole, as a mount does. */
async function write(keys: readonly KeyEntry[]): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify({ keys }));
  await rename(`${file}.new`, file);
}

const publicHalves = (first: KeyEntry, ...others: KeyEntry[]) => publicKeySet({ keys: [first, ...others] }).keys;

const start = () => startGatewayProcess({ ...fixture.env, ACCESS_TOKEN_KEYS_FILE: file, LOG_LEVEL: 'info' });

/** Returns how the start ended: its exit code and its output, or `started`. */
async function outcomeOfStart(): Promise<string> {
  try {
    const gateway = await start();
    gateway.signal('SIGTERM');
    await gateway.exited;
    return 'started';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a gateway whose key file cannot be used', () => {
  const [open, closed] = [newSigningKey('ES256', 'open-key'), newSigningKey('ES256', 'closed-key')];

  // guarantees: gateway-without-private-key
  test('a gateway whose key file holds a private key ends with 78 and names the key and the way to the public file', async () => {
    await write([...publicHalves(open), closed]);
    const outcome = await outcomeOfStart();
    expect(outcome).toContain('ended before it listened, with 78');
    expect(outcome).toContain('ACCESS_TOKEN_KEYS_FILE');
    expect(outcome).toContain(`${file}: key closed-key has a private part (d)`);
    expect(outcome).toContain('`authctl keys public`');
    expect(outcome).not.toContain(closed.d);
    expect(outcome).not.toContain(closed.x);
  });

  test.each([
    ['is not there', () => rm(file, { force: true }), 'ENOENT'],
    ['is not JSON', () => writeFile(file, `{"keys":[{"d":"${closed.d}"`), 'not JSON'],
  ])('a gateway whose key file %s does not start', async (_, spoil, why) => {
    await spoil();
    const outcome = await outcomeOfStart();
    expect(outcome).toContain('ended before it listened, with 78');
    expect(outcome).toContain(file);
    expect(outcome).toContain(why);
    expect(outcome).not.toContain(closed.d);
  });
});

describe('a running gateway whose key file gets a private key', () => {
  const [first, second] = [newSigningKey('EdDSA', 'first-key'), newSigningKey('ES256', 'second-key')];
  let gateway: ServiceProcess;

  beforeEach(async () => {
    await write(publicHalves(first));
    gateway = await start();
    const isReady = async () => (await get(gateway.opsBase, '/readyz')).status === 200;
    await waitUntil(isReady, { what: 'readiness', timeoutMs: 60_000 });
  });
  afterEach(async () => {
    gateway.signal('SIGTERM');
    await gateway.exited;
  });

  /**
   * Returns the gateway's answer to a token that the key has signed. An unknown key makes the gateway read its file.
   */
  async function upgradeBy(key: KeyEntry): Promise<number> {
    const settings = { issuer: 'https://auth.local', audience: 'food-storage' } as const;
    const sign = createAccessTokenSigner({ ...settings, keys: { keys: [key] }, ttlSeconds: 600 });
    const sessionId = randomUUID();
    const device = { home_group_id: randomUUID(), account_type: 'HOME', device_id: randomUUID() } as const;
    const token = sign({ user_id: randomUUID(), sid: sessionId, ver: 1, ...device });
    return (await upgradeRaw(gateway.base, { sessionId, token, place: 'header' })).status;
  }

  // guarantees: gateway-without-private-key
  test('a gateway whose key file gets a private key reports that, and keeps the former keys until the file is right', async () => {
    await write([second, first]);
    expect([await upgradeBy(second), await upgradeBy(first)]).toEqual([401, 101]);
    const refused = async () =>
      /^auth_key_file_refused\{.*\} (.)$/m.exec((await get(gateway.opsBase, '/metrics')).text)?.[1];
    expect(await refused()).toBe('1');
    const report = gateway.output().match(/^.*key file not taken.*$/m)?.[0] ?? '';
    expect(report).toContain(`${file}: key second-key has a private part (d)`);
    for (const { d, x } of [first, second]) {
      expect(gateway.output()).not.toContain(d);
      expect(gateway.output()).not.toContain(x);
    }
    await write(publicHalves(second, first));
    const isTaken = async () => (await upgradeBy(second)) === 101;
    await waitUntil(isTaken, { what: 'the public keys to be taken', timeoutMs: 60_000 });
    expect([await upgradeBy(first), await refused()]).toEqual([101, '0']);
  });
});
