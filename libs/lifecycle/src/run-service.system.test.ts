import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';

const FIXTURE = fileURLToPath(new URL('./run-service.fixture.ts', import.meta.url));
/** With these, the processes share compiled modules. */
const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
const caches = { NODE_COMPILE_CACHE, NODE_OPTIONS };
const children = new Set<ChildProcess>();

interface Line {
  readonly msg: string;
  readonly level: string;
  readonly port?: number;
  readonly step?: string;
}

/** Runs the fixture in its own process; collects its log lines and waits for one of them. `exit` follows all output. */
function startFixture(env: Record<string, string>) {
  const child = spawn(process.execPath, [FIXTURE], { env: { ...caches, BIND_ADDRESS: '127.0.0.1', ...env } });
  children.add(child);
  let isOver = false;
  const exit = once(child, 'close').then(([code]) => {
    isOver = true;
    return code as number | null;
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    output.stdout += data;
    child.emit('output');
  });
  child.stderr.on('data', (data) => {
    output.stderr += data;
  });
  const lines = (): Line[] =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  async function logged(msg: string): Promise<Line> {
    for (;;) {
      const line = lines().find((candidate) => candidate.msg === msg);
      if (line) return line;
      if (isOver) throw new Error(`The process ended without the line "${msg}": ${output.stderr}`);
      await Promise.race([once(child, 'output'), exit]);
    }
  }

  async function readyz(): Promise<{ status: number; body: unknown }> {
    const { port } = await logged('ops server listens');
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.json() };
  }

  return { child, exit, output, lines, logged, readyz };
}

// These tests run concurrently, because they mostly wait for delays and limits.
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

describe('runService', () => {
  test.concurrent('a service is ready once started', async () => {
    const service = startFixture({});
    await service.logged('started');
    expect(await service.readyz()).toEqual({
      status: 200,
      body: {
        ok: true,
        checks: [
          { name: 'lifecycle', ok: true },
          { name: 'database', ok: true },
        ],
      },
    });
  });

  test.concurrent('a service prints every configuration problem on stderr and exits with 78', async () => {
    const service = startFixture({ LOG_LEVEL: 'loud', OPS_PORT: 'many' });
    expect(await service.exit).toBe(78);
    expect(service.output.stderr).toMatch(/^fixture: The configuration has 2 problems:/);
    expect(service.output.stderr).toMatch(/LOG_LEVEL .*OPS_PORT /s);
  });

  test.concurrent('a configuration problem that only composing shows is printed too, and exits with 78', async () => {
    const service = startFixture({ MODE: 'wrong-config' });
    expect(await service.exit).toBe(78);
    expect(service.output.stderr).toMatch(/^fixture: The configuration has 1 problem:\n.*\n {2}KEYS /);
  });

  test.concurrent.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'a service runs its shutdown steps in order on %s and exits with 0',
    async (signal) => {
      const service = startFixture({});
      await service.logged('started');
      service.child.kill(signal);
      expect(await service.exit).toBe(0);
      const steps = service.lines().filter((line) => line.msg === 'shutdown step done');
      expect(steps.map((line) => line.step)).toEqual(['first', 'second', 'ops server', 'tracing']);
    },
  );

  test.concurrent('a hanging shutdown step is cut off at its limit, the next one runs, and the exit code is 1', async () => {
    const service = startFixture({ MODE: 'hanging-step' });
    await service.logged('started');
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(1);
    expect(service.lines()).toContainEqual(
      expect.objectContaining({ msg: 'shutdown step failed', step: 'first', level: 'error' }),
    );
    await service.logged('second step ran');
  });

  test.concurrent('a second signal that comes later ends the process at once with 1', async () => {
    const service = startFixture({ SHUTDOWN_DELAY_SECONDS: '60' });
    await service.logged('started');
    service.child.kill('SIGTERM');
    await service.logged('stopping');
    const repeat = setInterval(() => service.child.kill('SIGTERM'), 100);
    expect(await service.exit).toBe(1);
    clearInterval(repeat);
    expect(service.lines()).toContainEqual(expect.objectContaining({ level: 'fatal' }));
  });

  test.concurrent.each(['rejection', 'exception'])(
    'an uncaught %s is logged as fatal, the service stops in order and exits with 1',
    async (MODE) => {
      const service = startFixture({ MODE });
      expect(await service.exit).toBe(1);
      expect(service.lines()).toContainEqual(
        expect.objectContaining({ level: 'fatal', err: expect.objectContaining({ message: 'nobody caught me' }) }),
      );
      await service.logged('second step ran');
    },
  );

  test.concurrent('a start that failed runs the shutdown steps and exits with 1', async () => {
    const service = startFixture({ MODE: 'failing-start' });
    expect(await service.exit).toBe(1);
    expect(service.lines()).toContainEqual(expect.objectContaining({ level: 'fatal', msg: 'start failed' }));
    await service.logged('second step ran');
  });

  // guarantees: stop-in-10-s
  test.concurrent('/readyz answers 503 between the signal and the first step', async () => {
    const service = startFixture({ SHUTDOWN_DELAY_SECONDS: '60' });
    await service.logged('started');
    service.child.kill('SIGTERM');
    await service.logged('stopping');
    expect(await service.readyz()).toMatchObject({
      status: 503,
      body: { ok: false, checks: [{ name: 'lifecycle', ok: false, reason: 'stopping' }, { ok: true }] },
    });
    expect(service.lines().some((line) => line.step === 'first')).toBe(false);
  });

  test.concurrent('the first shutdown step waits for SHUTDOWN_DELAY_SECONDS', async () => {
    const service = startFixture({ SHUTDOWN_DELAY_SECONDS: '1' });
    await service.logged('started');
    const start = performance.now();
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(performance.now() - start).toBeGreaterThan(1_000);
  });

  test.concurrent('a second signal within a second is ignored', async () => {
    const service = startFixture({});
    await service.logged('started');
    // Two kinds, which the system does not merge. Nothing happens between them, so that a second cannot pass.
    service.child.kill('SIGINT');
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    await service.logged('second step ran');
  });
});
