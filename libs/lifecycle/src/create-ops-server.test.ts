import { request } from 'node:http';
import { createLogger } from '@auth-account/telemetry';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createOpsServer, type OpsServer } from './create-ops-server.ts';
import type { Check } from './run-checks.ts';

let ops: OpsServer;
let port: number;
let checks: Check[] = [];

function ask(
  path: string,
  method = 'GET',
): Promise<{ status: number | undefined; type: string | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof ask>>>();
  const asked = request({ host: '127.0.0.1', port, path, method, agent: false }, async (response) => {
    const chunks = await response.toArray();
    resolve({
      status: response.statusCode,
      type: response.headers['content-type'],
      body: Buffer.concat(chunks).toString(),
    });
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}

beforeEach(async () => {
  checks = [];
  ops = createOpsServer({
    host: '127.0.0.1',
    port: 0,
    checks: () => checks,
    metrics: { render: async (accept) => ({ contentType: 'text/plain', body: `accept ${accept}` }) },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  ({ port } = await ops.listen());
});

afterEach(() => ops.close());

describe('the ops server', () => {
  test('the ops server answers /livez with 200 whatever the checks say', async () => {
    checks = [{ name: 'redis', run: () => ({ ok: false, reason: 'away' }) }];
    expect(await ask('/livez')).toMatchObject({ status: 200, body: '{"ok":true}' });
  });

  test('GET /readyz answers 200 and a warning where a check passes but has something to say', async () => {
    checks = [{ name: 'redis', run: async () => ({ ok: true, reason: 'maxmemory-policy is allkeys-lru' }) }];
    const { status, body } = await ask('/readyz');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      ok: true,
      checks: [{ name: 'redis', ok: true, reason: 'maxmemory-policy is allkeys-lru' }],
    });
  });

  test('GET /readyz answers 503 and a reason for each check that fails, throws or hangs', async () => {
    checks = [
      { name: 'good', run: () => ({ ok: true }) },
      { name: 'bad', run: () => ({ ok: false, reason: 'away' }) },
      { name: 'throwing', run: () => Promise.reject(new Error('refused')) },
      { name: 'hanging', run: () => new Promise<never>(() => undefined), timeoutMs: 50 },
    ];
    const { status, body } = await ask('/readyz');
    expect(status).toBe(503);
    expect(JSON.parse(body).checks).toEqual([
      { name: 'good', ok: true },
      { name: 'bad', ok: false, reason: 'away' },
      { name: 'throwing', ok: false, reason: 'refused' },
      { name: 'hanging', ok: false, reason: 'took longer than 50 ms' },
    ]);
  });

  test('the ops server serves /metrics, with and without a query', async () => {
    expect(await ask('/metrics?x=1')).toEqual({ status: 200, type: 'text/plain', body: 'accept undefined' });
  });

  test('the ops server answers HEAD without a body, other methods with 405, other paths with 404', async () => {
    expect(await ask('/livez', 'HEAD')).toMatchObject({ status: 200, body: '' });
    expect(await ask('/livez', 'POST')).toMatchObject({ status: 405 });
    expect(await ask('/', 'GET')).toMatchObject({ status: 404 });
    expect(await ask('/', 'POST')).toMatchObject({ status: 404 });
  });

  test('the ops server rejects listen where the port is taken', async () => {
    const options = {
      host: '127.0.0.1',
      port,
      checks: () => [],
      metrics: { render: () => Promise.reject(new Error()) },
    };
    const second = createOpsServer({ ...options, logger: createLogger({ service: 'test', level: 'silent' }) });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await second.close();
  });
});
