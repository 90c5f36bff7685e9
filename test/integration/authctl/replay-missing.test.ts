import { registeredTopic } from '@auth-account/contracts';
import type { AuthEvent } from '@auth-account/contracts/events';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { ensureIndexes } from '@auth-account/stores';
import { describe, expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { closingAll } from '../../support/closing.ts';
import { authctl, authctlJson } from '../../support/processes/authctl.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { newCodeRequest, newDeletedEvent, newEvent, newNotification } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const replayTo = (name: string, ...args: string[]) => ['events', 'replay', '--subscriber', name, ...args];
const missing = ['--missing', '--since', '1h', '--yes'];

/** Stores a request for a code, as the api does for an email address without an account. */
async function askForNobody({ mongo, collections }: WorkerFixture): Promise<AuthEvent> {
  const event = newCodeRequest();
  const { outbox } = storesOf(collections);
  await mongo.withSession((session) =>
    session.withTransaction(() => outbox.appendDelivered(event, new Date(), session)),
  );
  return event;
}

async function publishAll(fixture: WorkerFixture, events: readonly AuthEvent[]): Promise<void> {
  for (const event of events) await fixture.publish(event);
  for (const event of events) await eventually('it is delivered', () => fixture.isDelivered(event));
}

describe('what was delivered before a subscriber was added', () => {
  // guarantees: replay-to-new-subscriber
  test.concurrent(
    'a replay sends a new webhook, queue and mail subscriber the earlier events that each takes, once, and no codes',
    closingAll(async (closing) => {
      const [old, crm] = [closing(await startReceiver('old')), closing(await startReceiver('crm'))];
      const sink = await startMailSink(() => undefined);
      closing({ close: sink.stop });
      const url = `smtp://127.0.0.1:${sink.port}`;
      const mail = { name: 'mail', kind: 'smtp', url, from: 'no-reply@kitchen.example', starttls: false };
      const fixture = closing(await openWorkerFixture([old.subscriber]));
      const before = closing(await startTestWorker(fixture.env));
      const user = newUserDocument(new Date());
      await fixture.collections.users.insertOne(user);
      const notification = newNotification({ user_id: user._id });
      const [one, two, deleted] = [newEvent(), newEvent(), newDeletedEvent()];
      await publishAll(fixture, [one, two, deleted, notification, newCodeRequest(), newCodeRequest(new Date())]);
      await askForNobody(fixture);
      await before.close();

      const added = [old.subscriber, crm.subscriber, { name: 'kitchen', kind: 'queue' }, mail];
      const env = { ...fixture.env, EVENT_SUBSCRIBERS: JSON.stringify(added) };
      closing(await startTestWorker(env));
      const { subscribers } = storesOf(fixture.collections);
      await eventually('the workers have it', async () => (await subscribers.list()).some(({ _id }) => _id === 'mail'));
      const consumed: string[] = [];
      const consumer = new Worker<AuthEvent>(
        subscriberQueueName(registeredTopic, 'kitchen'),
        async ({ data }) => void consumed.push(data.id),
        {
          ...reliableWorkerOptions,
          connection: { url: fixture.env.REDIS_URL ?? '' },
          prefix: fixture.keys.queuePrefix,
        },
      );
      closing({ close: () => consumer.close() });

      // As if a run was aborted after the first event.
      expect(await authctlJson(replayTo('crm', one.id, '--missing', '--yes'), { env })).toMatchObject({ replayed: 1 });
      const rest = { selected: 3, replayed: 3, deliveries: 3, skipped: 0, skips: [] };
      expect(await authctlJson(replayTo('crm', ...missing), { env })).toEqual(rest);
      expect(await authctlJson(replayTo('mail', ...missing, '--dry-run'), { env })).toMatchObject({ selected: 1 });
      const everything = [one, two, deleted, notification].map(({ id }) => id).sort();
      await eventually('the webhook has them', () => new Set(crm.ids()).size === everything.length);
      await eventually('no row waits', async () => (await countPending(fixture)) === 0);

      expect([consumed, sink.mails()]).toEqual([[], []]);
      for (const name of ['kitchen', 'mail']) await authctlJson(replayTo(name, ...missing), { env });
      await eventually('the queue has them', () => new Set(consumed).size === 2);
      await eventually('the mail is sent', () => sink.mails().length >= 1);
      const again = await authctl(replayTo('crm', ...missing), { env });
      expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There is nothing to send again') });
      expect([...new Set(crm.ids())].sort()).toEqual(everything);
      expect([...new Set(consumed)].sort()).toEqual([one.id, two.id].sort());
      expect(sink.mails()).toMatchObject([{ to: user.email }]);
      expect(new Set(old.ids()).size).toBe(5);
    }),
  );

  test.concurrent(
    'an event is still missing if a worker of before the rollout takes its replay, and is sent by the next one',
    closingAll(async (closing) => {
      const fixture = closing(await openWorkerFixture());
      const { outbox, subscribers } = storesOf(fixture.collections);
      const event = newEvent();
      await fixture.publish(event);
      const settle = () => outbox.markDelivered([{ eventId: event.id, by: ['old'], at: new Date() }], ['old']);
      await settle();
      await subscribers.configure(['old', 'crm'], new Date());
      for (const _ of ['during the rollout', 'after it']) {
        expect(await authctlJson(replayTo('crm', ...missing), fixture)).toMatchObject({ selected: 1, deliveries: 1 });
        await settle();
        expect(await fixture.isDelivered(event)).toBe(true);
      }
    }),
  );

  test.concurrent(
    'a replay says that it is incomplete if its span begins before what is kept',
    closingAll(async (closing) => {
      const fixture = closing(await openWorkerFixture());
      await ensureIndexes(fixture.db, { outboxRetentionSeconds: 86_400 });
      const { outbox, subscribers } = storesOf(fixture.collections);
      const event = newEvent();
      await fixture.publish(event);
      await outbox.markDelivered([{ eventId: event.id, by: [], at: new Date() }], []);
      await subscribers.configure(['crm'], new Date());
      const [early, late] = [replayTo('crm', '--since', '2d'), replayTo('crm', '--since', '23h')];
      const dryRun = { selected: 1, dry_run: true };
      const incomplete = { ...dryRun, incomplete_before: expect.any(String) };
      expect(await authctlJson([...early, '--dry-run'], fixture)).toEqual(incomplete);
      expect(await authctlJson([...late, '--dry-run'], fixture)).toEqual(dryRun);
      const asked = await authctl(early, { ...fixture, answer: 'n' });
      expect(asked.stderr).toMatch(/--since is too early: .* is no longer kept\.\nSend 1 event again to crm\?/);
      expect(await fixture.isDelivered(event)).toBe(true);
    }),
  );
});

describe('events replay', () => {
  test.each([
    [['--missing', '--since', '1h'], '--missing needs --subscriber'],
    [['--missing', '--dead-letters', '--subscriber', 'crm'], 'cannot be used with'],
    [['--since', '1h', '--until', '2h'], '--since must be before --until'],
  ])('events replay refuses %j', async (args, why) => {
    const env = { MONGODB_URI: testEnvironment().mongodbUri, MONGODB_DATABASE: 'nothing' };
    const run = await authctl(['events', 'replay', ...args], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(why) });
  });
});

function countPending({ collections }: WorkerFixture): Promise<number> {
  return collections.outbox.countDocuments({ state: 'pending' });
}
