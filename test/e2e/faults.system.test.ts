import { waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, logOut, newSession, registerAccount } from '../support/api/accounts.ts';
import { startTestStack, type TestStack } from '../support/processes/test-stack.ts';
import { cheapHashes } from '../support/test-environment.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack(cheapHashes);
});
afterAll(() => stack.close());

/** Waits until everything that the last test broke has recovered. */
async function recovered(): Promise<void> {
  await Promise.all(Object.values(stack.services).map((service) => service.waitUntilReady()));
}

async function killed(service: 'api' | 'push-gateway' | 'worker'): Promise<void> {
  const before = stack.services[service].restarts();
  stack.services[service].kill('SIGKILL');
  await waitUntil(async () => stack.services[service].restarts() > before, {
    what: `${service} to die`,
    timeoutMs: 60_000,
  });
}

describe('Redis away', () => {
  afterEach(recovered);

  // guarantees: logout-without-redis
  test('while Redis is away, a logout answers 200, and the close comes when Redis is back', async () => {
    const session = await newSession(stack);
    const stream = await stack.openStream(session);
    await stack.redis.stop();
    expect((await logOut(stack, session)).status).toBe(200);
    expect(stream.isOpen()).toBe(true);
    await stack.redis.start();
    expect(await stream.closed).toMatchObject({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
  });

  // guarantees: event-per-registration
  test('while Redis is away, registration and login answer, and an api killed before the publish loses no event', async () => {
    await stack.redis.stop();
    const { user_id, email } = await registerAccount(stack);
    expect((await logIn(stack, email)).session_id).toEqual(expect.any(String));
    await killed('api');
    await stack.redis.start();
    const { event } = await stack.receiver.waitFor(user_id);
    // A slow delivery may be repeated, as the same event.
    const received = stack.receiver.received.filter((one) => one.event.subject === user_id);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(await stack.collections.outbox.countDocuments({ 'event.subject': user_id })).toBe(1);
    expect(event.data.user_id).toBe(user_id);
  });
});

describe('services killed with SIGKILL', () => {
  afterEach(recovered);

  // guarantees: kill-loses-nothing
  test('an event that came while the worker was killed is delivered after its restart', async () => {
    await killed('worker');
    const { user_id } = await registerAccount(stack);
    await stack.receiver.waitFor(user_id);
  });

  // guarantees: kill-loses-nothing
  test('after the gateway was killed, a session logged out meanwhile gets no stream, and another gets its own again', async () => {
    const [gone, staying] = await Promise.all([newSession(stack), newSession(stack)]);
    await Promise.all([stack.openStream(gone), stack.openStream(staying)]);
    await killed('push-gateway');
    expect((await logOut(stack, gone)).status).toBe(200);
    await stack.services['push-gateway'].waitUntilReady();
    await expect(stack.openStream(gone)).rejects.toThrow('401');
    const stream = await stack.openStream(staying);
    expect(stream.isOpen()).toBe(true);
    stream.terminate();
  });
});

// guarantees: stop-in-10-s
// Must be the last test, because it stops all services.
test('SIGTERM ends a service within 10 s with exit code 0, and the gateway’s streams with 1001', async () => {
  const stream = await stack.openStream(await newSession(stack));
  await Promise.all(Object.values(stack.services).map((service) => service.stop()));
  expect(await stream.closed).toMatchObject({ code: 1001, reason: 'SERVER_DRAINING' });
  // Each service limits its own shutdown; after 10 s it would exit with 1.
  for (const lines of Object.values(stack.logs)) {
    const last = lines.findLast((line) => line.includes('"stopped"'));
    expect(JSON.parse(last ?? '{}')).toMatchObject({ msg: 'stopped', exitCode: 0 });
  }
});
