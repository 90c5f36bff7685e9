import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import { provideRedisBinary } from '@auth-account/local-stack';
import { pushGatewayConfig } from '@auth-account/push-gateway/config';
import { explainRedisError, failFastOptions, openRedis } from '@auth-account/redis';
import { workerConfig } from '@auth-account/worker/config';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newSession, registerAccount } from '../../support/api/accounts.ts';
import { get } from '../../support/http-client.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { startTestServices } from '../../support/processes/test-services.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { uniqueName } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import {
  type Certificates,
  findTlsObstacle,
  makeCertificates,
  startTlsRedis,
  type TlsRedis,
} from './servers/redis-tls.ts';

const binary = await provideRedisBinary({ log: () => undefined });
const obstacle = await findTlsObstacle(binary);
if (obstacle !== undefined) console.warn(`redis/tls.test.ts: ${obstacle}: NOTHING IS TESTED`);

(obstacle === undefined ? describe : describe.skip)('a Redis that wants client certificates', () => {
  let folder: GuardedFolder;
  let certificates: Certificates;
  let server: TlsRedis;
  /** The services' variables, without a certificate. */
  let settings: { readonly REDIS_URL: string; readonly REDIS_CA_FILE: string };

  beforeAll(async () => {
    folder = await openGuardedFolder('tls');
    certificates = await makeCertificates(folder.dir);
    server = await startTlsRedis(folder.dir, binary, certificates, folder.watch);
    settings = { REDIS_URL: server.url, REDIS_CA_FILE: certificates.authority };
  });

  afterAll(async () => {
    await server.close();
    await folder.close();
  });

  test('a Redis that wants client certificates serves services that have one: events arrive, and logouts close streams', async () => {
    const services = await startTestServices({ ...settings, ...certificates.client });
    try {
      await eventually('the gateway is ready', async () => (await services.gateway.unreadiness()).length === 0);
      const account = await registerAccount(services.api);
      await eventually('the event', () => services.receiver.received.length > 0);
      const session = await newSession(services.api, account);
      const stream = await services.openStream(session);
      await logOut(services.api, session);
      expect((await stream.closed).code).toBe(1000);
    } finally {
      await services.close();
    }
  });

  test('a Redis that wants client certificates refuses a missing, foreign or expired one, and the error names the variable', async () => {
    const tries = {
      none: {},
      otherAuthority: certificates.otherAuthority,
      expired: certificates.expired,
    };
    const found: Record<string, string> = {};
    for (const [name, files] of Object.entries(tries)) found[name] = await refusal({ ...settings, ...files });
    expect(found).toEqual({
      none: expect.stringMatching(/client certificate.*REDIS_CERT_FILE/),
      otherAuthority: expect.stringContaining('does not know the authority of the certificate in REDIS_CERT_FILE'),
      expired: expect.stringContaining('the certificate in REDIS_CERT_FILE has expired'),
    });
  });

  test('a client that expects another authority or another name refuses the Redis server', async () => {
    const { client } = certificates;
    const found = [
      await refusal({ ...settings, ...client, REDIS_CA_FILE: join(folder.dir, 'other.crt') }),
      await refusal({ ...settings, ...client, REDIS_TLS_SERVER_NAME: 'cache.example' }),
    ];
    expect(found).toEqual([expect.stringContaining('REDIS_CA_FILE'), expect.stringContaining('REDIS_TLS_SERVER_NAME')]);
  });

  test('a worker without a client certificate is not ready, and its log says what is missing', async () => {
    const worker = await startWorkerProcess({ ...serviceEnvironment(uniqueName()), ...settings });
    try {
      await eventually('the log', () => /client certificate[^\n]*REDIS_CERT_FILE/.test(worker.output()));
      expect((await get(worker.opsBase, '/readyz')).status).toBe(503);
    } finally {
      await worker.end('SIGKILL');
    }
  });

  test('authctl reaches Redis with a client certificate, and says without one what is missing', async () => {
    const env = { ...serviceEnvironment(uniqueName()), ...settings };
    const good = await authctl(['commands', 'list'], { env: { ...env, ...certificates.client } });
    expect([good.exitCode, good.stderr]).toEqual([0, '']);
    const { exitCode, stderr } = await authctl(['commands', 'list'], { env });
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/Redis cannot be reached: .*REDIS_CERT_FILE/);
  });

  describe('certificate files that cannot be used', () => {
    test.each([
      ['api', apiConfig],
      ['push-gateway', pushGatewayConfig],
      ['worker', workerConfig],
    ])('certificate files that cannot be used are named at the start by the %s', async (_name, schema) => {
      const { client, otherAuthority } = certificates;
      const problemsOf = (more: Readonly<Record<string, string>>): string[] => {
        try {
          loadConfig(schema, { env: { ...serviceEnvironment(uniqueName()), ...settings, ...more } });
          return [];
        } catch (error) {
          const { problems } = error as { problems: { readonly name: string; readonly expected: string }[] };
          return problems.map(({ name, expected }) => `${name}: ${expected.replace('text; ', '')}`);
        }
      };
      const broken = join(folder.dir, 'broken.crt');
      await writeFile(broken, 'no certificate');
      const { REDIS_CERT_FILE, REDIS_KEY_FILE } = client;
      expect(problemsOf(client)).toEqual([]);
      expect(problemsOf({ REDIS_CERT_FILE })).toEqual(['REDIS_CERT_FILE: it needs REDIS_KEY_FILE']);
      expect(problemsOf({ REDIS_KEY_FILE })).toEqual(['REDIS_KEY_FILE: it needs REDIS_CERT_FILE']);
      expect(problemsOf({ ...client, REDIS_KEY_FILE: otherAuthority.REDIS_KEY_FILE })).toEqual([
        expect.stringContaining('REDIS_CERT_FILE: certificate and key cannot be used together'),
      ]);
      expect(problemsOf({ ...client, REDIS_CERT_FILE: broken })).toEqual([
        expect.stringContaining('REDIS_CERT_FILE: certificate and key cannot be used together'),
      ]);
      expect(problemsOf({ ...client, REDIS_URL: 'redis://127.0.0.1' })).toEqual([
        expect.stringContaining('REDIS_CERT_FILE: REDIS_URL does not use TLS'),
      ]);
    });
  });
});

/**
 * Opens a connection with these variables, which must never become ready. Returns its first error that names one of
 * them.
 */
async function refusal(config: Parameters<typeof openRedis>[0]): Promise<string> {
  const redis = openRedis(config, failFastOptions());
  const explained = Promise.withResolvers<string>();
  redis.on('error', (error) => {
    const { message } = explainRedisError(error, config);
    if (message.includes('REDIS_')) explained.resolve(message);
  });
  redis.once('ready', () => explained.reject(new Error('Redis has let the connection in')));
  try {
    return await explained.promise;
  } finally {
    redis.disconnect();
  }
}
