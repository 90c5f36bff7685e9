import { registeredTopic } from '@auth-account/contracts';
import type { AuthEvent } from '@auth-account/contracts/events';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { ensureIndexes } from '@auth-account/stores';
import { describe, expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { authctl, authctlJson } from '../../support/authctl.ts';
import { closingAll } from '../../support/closing.ts';
import { storesOf } from '../../support/stores-of.ts';
import { testEnvironment } from '../../support/test-api.ts';
import { newUserDocument } from '../../support/use-case-scene.ts';
import { newCodeRequest, newDeletedEvent, newEvent, newNotice } from '../../support/worker-events.ts';
import { startReceiver } from '../../support/worker-receiver.ts';
import { eventually, openWorkerScene, type WorkerScene } from '../../support/worker-scene.ts';
import { startTestWorker } from '../../support/worker-service.ts';

const replayTo = (name: string, ...args: string[]) => ['events', 'replay', '--subscriber', name, ...args];
const missing = ['--missing', '--since', '1h', '--yes'];

/** Stores a request for a code, as the api does for an address without an account. */
async function askForNobody({ mongo, collections }: WorkerScene): Promise<AuthEvent> {
  const event = newCodeRequest();
  const { outbox } = storesOf(collections);
  await mongo.withSession((session) =>
    session.withTransaction(() => outbox.appendDelivered(event, new Date(), session)),
  );
  return event;
}

async function publishAll(scene: WorkerScene, events: readonly AuthEvent[]): Promise<void> {
  for (const event of events) await scene.publish(event);
  for (const event of events) await eventually('it is delivered', () => scene.isDelivered(event));
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
      const scene = closing(await openWorkerScene([old.subscriber]));
      const before = closing(await startTestWorker(scene.env));
      const user = newUserDocument(new Date());
      await scene.collections.users.insertOne(user);
      const notice = newNotice({ user_id: user._id });
      const [one, two, deleted] = [newEvent(), newEvent(), newDeletedEvent()];
      await publishAll(scene, [one, two, deleted, notice, newCodeRequest(), newCodeRequest(new Date())]);
      await askForNobody(scene);
      await before.close();

      const added = [old.subscriber, crm.subscriber, { name: 'kitchen', kind: 'queue' }, mail];
      const env = { ...scene.env, EVENT_SUBSCRIBERS: JSON.stringify(added) };
      closing(await startTestWorker(env));
      const { subscribers } = storesOf(scene.collections);
      await eventually('the workers have it', async () => (await subscribers.list()).some(({ _id }) => _id === 'mail'));
      const consumed: string[] = [];
      const consumer = new Worker<AuthEvent>(
        subscriberQueueName(registeredTopic, 'kitchen'),
        async ({ data }) => void consumed.push(data.id),
        { ...reliableWorkerOptions, connection: { url: scene.env.REDIS_URL ?? '' }, prefix: scene.keys.queuePrefix },
      );
      closing({ close: () => consumer.close() });

      // As if a run was aborted after the first event.
      expect(await authctlJson(replayTo('crm', one.id, '--missing', '--yes'), { env })).toMatchObject({ replayed: 1 });
      const rest = { selected: 3, replayed: 3, deliveries: 3, skipped: 0, skips: [] };
      expect(await authctlJson(replayTo('crm', ...missing), { env })).toEqual(rest);
      expect(await authctlJson(replayTo('mail', ...missing, '--dry-run'), { env })).toMatchObject({ selected: 1 });
      const everything = [one, two, deleted, notice].map(({ id }) => id).sort();
      await eventually('the webhook has them', () => new Set(crm.ids()).size === everything.length);
      await eventually('no row waits', async () => (await countPending(scene)) === 0);

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
      const scene = closing(await openWorkerScene());
      const { outbox, subscribers } = storesOf(scene.collections);
      const event = newEvent();
      await scene.publish(event);
      const settle = () => outbox.markDelivered([{ eventId: event.id, by: ['old'], at: new Date() }], ['old']);
      await settle();
      await subscribers.configure(['old', 'crm'], new Date());
      for (const _ of ['during the rollout', 'after it']) {
        expect(await authctlJson(replayTo('crm', ...missing), scene)).toMatchObject({ selected: 1, deliveries: 1 });
        await settle();
        expect(await scene.isDelivered(event)).toBe(true);
      }
    }),
  );

  test.concurrent(
    'a replay says that it is incomplete if its span begins before what is kept',
    closingAll(async (closing) => {
      const scene = closing(await openWorkerScene());
      await ensureIndexes(scene.db, { outboxRetentionSeconds: 86_400 });
      const { outbox, subscribers } = storesOf(scene.collections);
      const event = newEvent();
      await scene.publish(event);
      await outbox.markDelivered([{ eventId: event.id, by: [], at: new Date() }], []);
      await subscribers.configure(['crm'], new Date());
      const [early, late] = [replayTo('crm', '--since', '2d'), replayTo('crm', '--since', '23h')];
      const dryRun = { selected: 1, dry_run: true };
      const incomplete = { ...dryRun, incomplete_before: expect.any(String) };
      expect(await authctlJson([...early, '--dry-run'], scene)).toEqual(incomplete);
      expect(await authctlJson([...late, '--dry-run'], scene)).toEqual(dryRun);
      const asked = await authctl(early, { ...scene, answer: 'n' });
      expect(asked.stderr).toMatch(/--since is too early: .* is no longer kept\.\nSend 1 event again to crm\?/);
      expect(await scene.isDelivered(event)).toBe(true);
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

function countPending({ collections }: WorkerScene): Promise<number> {
  return collections.outbox.countDocuments({ state: 'pending' });
}
