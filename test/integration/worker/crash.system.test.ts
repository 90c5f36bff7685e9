import { connect, createServer } from 'node:net';
import { registeredTopic } from '@auth-account/contracts';
import { findFreePort } from '@auth-account/local-stack';
import { subscriberQueueName } from '@auth-account/messaging';
import { expect, test } from '@jest/globals';
import { closingAll } from '../../support/closing.ts';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { endJobLock } from '../../support/worker/end-job-lock.ts';
import { newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

// These tests mostly wait for locks, deadlines and intervals, so they run concurrently.

// guarantees: event-per-registration
test.concurrent(
  'a worker killed at each delivery loses nothing: the same event comes again until it is acknowledged',
  closingAll(async (closing) => {
    const receiver = closing(await startReceiver('analytics'));
    const fixture = closing(await openWorkerFixture([receiver.subscriber]));
    let worker: Awaited<ReturnType<typeof startWorkerProcess>> | undefined;
    closing({ close: async () => void (await worker?.end('SIGKILL')) });
    // The receiver has accepted the event, and the worker dies before it learns that. With BullMQ's defaults, a job is
    // given up when this happens a second time.
    receiver.answerWith(() => void worker?.end('SIGKILL'));
    const event = newEvent();
    await fixture.publish(event);

    for (const deliveries of [1, 2]) {
      worker = await startWorkerProcess(fixture.env);
      await worker.exited;
      expect(receiver.ids()).toEqual(Array.from({ length: deliveries }, () => event.id));
      expect(await fixture.isDelivered(event)).toBe(false);
      const queue = subscriberQueueName(registeredTopic, receiver.name);
      await endJobLock(fixture.redis, `${fixture.keys.queuePrefix}:${queue}`, event.id);
    }
    receiver.answerWith(status(204));
    closing(await startTestWorker(fixture.env));
    await eventually('the row is delivered', () => fixture.isDelivered(event));
    // This worker stalls with the test, and may deliver again.
    expect(receiver.received.length).toBeGreaterThanOrEqual(3);
    expect(new Set(receiver.ids())).toEqual(new Set([event.id]));
  }),
);

test.concurrent(
  'a worker that starts before MongoDB waits for it, and stops in order while it waits',
  closingAll(async (closing) => {
    const fixture = closing(await openWorkerFixture());
    const [address = ''] = fixture.mongo.options.hosts.map(String);
    const mongodb = new URL(`tcp://${address}`);
    const port = await findFreePort();
    const env = {
      ...fixture.env,
      MONGODB_URI: `mongodb://127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=300`,
    };
    const [waiting, stopped] = await Promise.all([startWorkerProcess(env), startWorkerProcess(env)]);
    for (const worker of [waiting, stopped]) closing({ close: async () => void (await worker.end('SIGKILL')) });
    for (const worker of [waiting, stopped]) {
      await eventually('a failed attempt is logged', () => worker.output().includes('MongoDB connection'));
    }
    expect(await stopped.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const signInMethod = createServer((socket) => {
      const onward = connect(Number(mongodb.port), mongodb.hostname);
      for (const end of [socket, onward]) end.on('error', () => end.destroy());
      socket.pipe(onward).pipe(socket);
      socket.on('close', () => onward.destroy());
      onward.on('close', () => socket.destroy());
    }).listen(port, '127.0.0.1');
    const event = newEvent();
    await fixture.publish(event);
    await eventually('the row is delivered', () => fixture.isDelivered(event));
    await waiting.end('SIGTERM');
    await new Promise((resolve) => signInMethod.close(resolve));
  }),
);
