import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { emailUndoSeconds } from '@auth-account/contracts/http/email-change';
import { findFreePort } from '@auth-account/local-stack';
import { type MailSink, startMailSink } from '@auth-account/local-stack/mail-sink';
import { newRemoval } from '@auth-account/stores/factor-removals';
import { createEmailChangeTokens, createRemovalStopTokens, loadKeyFile } from '@auth-account/tokens';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { compactDecrypt } from 'jose';
import { Binary } from 'mongodb';
import { askForCode } from '../../support/api/code-request.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { type Closing, closingAll } from '../../support/closing.ts';
import { newCodeRequest, newNotification } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture } from '../../support/worker/worker-fixture.ts';
import { type Received, startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

let keys: Awaited<ReturnType<typeof loadKeyFile>>;
beforeAll(async () => {
  keys = await loadKeyFile(`${process.env.TEST_KEYS_DIR}/server-keys.json`);
});

const from = 'Kitchen <no-reply@kitchen.example>';
const subscriberAt = (port: number, rest: object = {}) => ({
  ...{ name: 'mail', kind: 'smtp', url: `smtp://127.0.0.1:${port}`, from, starttls: false },
  ...rest,
});

async function startSink(closing: Closing): Promise<MailSink> {
  const sink = await startMailSink(() => undefined);
  closing({ close: sink.stop });
  return sink;
}

// guarantees: mail-secrets
test.concurrent(
  'a webhook with a key gets email address and code, which it alone can read, and another gets neither',
  closingAll(async (closing) => {
    const { publicKey, privateKey } = generateKeyPairSync('x25519');
    const [sealed, open] = [closing(await startReceiver('sealed')), closing(await startReceiver('open'))];
    const encrypt_to = { ...publicKey.export({ format: 'jwk' }), kid: 'mailer-1' };
    const fixture = closing(await openWorkerFixture([{ ...sealed.subscriber, encrypt_to }, open.subscriber]));
    closing(await startTestWorker(fixture.env));
    const { event, user, to, code } = await askForCode(fixture);
    const [notification, unknown] = [newNotification({ user_id: user._id }), newCodeRequest()];
    for (const one of [event, notification, unknown]) {
      await fixture.publish(one);
      await eventually('it is delivered', () => fixture.isDelivered(one));
    }
    const secrets = await Promise.all(
      [event, notification].map(async ({ id }) => {
        const received = sealed.received.find((one) => one.id === id);
        const { plaintext, protectedHeader } = await compactDecrypt(secretIn(received) ?? '', privateKey);
        return [protectedHeader.kid, JSON.parse(new TextDecoder().decode(plaintext))];
      }),
    );
    expect(secrets).toEqual([
      ['mailer-1', { email: to, code }],
      ['mailer-1', { email: to }],
    ]);
    expect(secretIn(sealed.received.find(({ id }) => id === unknown.id))).toBeUndefined();
    expect(new Set(open.received.map(secretIn))).toEqual(new Set([undefined]));
    const logged = JSON.stringify([sealed.received, open.received, await fixture.collections.outbox.find().toArray()]);
    for (const secret of [to, code]) expect(logged).not.toContain(secret);
  }),
);

function secretIn(received: Received | undefined): string | undefined {
  return (JSON.parse(received?.body ?? '{}') as { data?: { secret?: string } }).data?.secret;
}

describe('a mail subscriber', () => {
  // guarantees: mail-secrets
  test.concurrent(
    'a mail subscriber sends the code to the email address that it is for, in the language of the account, with the provider',
    closingAll(async (closing) => {
      const sink = await startSink(closing);
      const fixture = closing(await openWorkerFixture([subscriberAt(sink.port)]));
      const worker = closing(await startTestWorker(fixture.env));
      const reset = await askForCode(fixture, { locale: 'ru' });
      const change = await askForCode(fixture, { pending_email: 'New.Cook@example.com' }, { purpose: 'email_change' });
      const link = await askForCode(fixture, {}, { purpose: 'identity_link' });
      for (const { event, to, code } of [reset, change, link]) {
        await fixture.publish(event === link.event ? { ...event, data: { ...event.data, provider: 'google' } } : event);
        await eventually('it is delivered', () => fixture.isDelivered(event));
        const mail = sink.mails().find((one) => one.to === to);
        expect(mail).toMatchObject({ to, subject: expect.stringContaining(code) });
        expect(mail?.text).toContain(code);
        expect(mail?.html).toContain(code);
      }
      const linking = sink.mails().find(({ to }) => to === link.to);
      for (const part of [linking?.text, linking?.html]) expect(part).toContain('with Google');
      const inRussian = sink.mails().filter(({ subject }) => subject.includes('ваш код'));
      expect(new Set(inRussian.map(({ to }) => to))).toEqual(new Set([reset.to]));
      const purpose = 'password_reset';
      expect(await worker.metric('auth_mails_total', { purpose, outcome: 'sent' })).toBeGreaterThanOrEqual(1);
      const stored = JSON.stringify(await fixture.collections.outbox.find().toArray());
      for (const { code, to } of [reset, change]) {
        expect(stored).not.toContain(code);
        expect(stored).not.toContain(to);
      }
    }),
  );

  test.concurrent(
    'a notification that is late goes to the email address that the account had at its time, and to nobody who came later',
    closingAll(async (closing) => {
      const sink = await startSink(closing);
      const fixture = closing(await openWorkerFixture([subscriberAt(sink.port)]));
      closing(await startTestWorker(fixture.env));
      const user = newUserDocument(new Date());
      const notification = newNotification({ user_id: user._id, purpose: 'passkey_added' });
      const until = (ms: number) => new Date(Date.parse(notification.time) + emailUndoSeconds * 1_000 + ms);
      const changes = { before: -60_000, next: 60_000, later: 120_000 };
      const former_emails = Object.entries(changes).map(([name, ms]) => ({
        ...{
          change_id: randomUUID(),
          email: `${name}@example.com`,
          email_key: `${name}@example.com`,
          until: until(ms),
        },
      }));
      await fixture.collections.users.insertOne({ ...user, former_emails });
      await fixture.publish(notification);
      await eventually('it is delivered', () => fixture.isDelivered(notification));
      expect(new Set(sink.mails().map(({ to }) => to))).toEqual(new Set(['next@example.com']));
    }),
  );

  test.concurrent(
    'a mail subscriber sends the notification of a changed email address to the former one, with the token that undoes it',
    closingAll(async (closing) => {
      const sink = await startSink(closing);
      const fixture = closing(await openWorkerFixture([subscriberAt(sink.port)]));
      closing(await startTestWorker(fixture.env));
      const change_id = randomUUID();
      const former = { change_id, email: 'old@example.com', email_key: 'old@example.com', until: new Date() };
      const user = { ...newUserDocument(new Date()), former_emails: [former] };
      await fixture.collections.users.insertOne(user);
      const changed = newNotification({ user_id: user._id, purpose: 'email_changed', email_change_id: change_id });
      const scheduled = newNotification({
        ...{ user_id: user._id, purpose: 'deletion_scheduled', deletes_at: '2026-12-24T10:00:00.000Z' },
      });
      const login = newNotification({ user_id: user._id, purpose: 'new_device', session_id: randomUUID() });
      const reset = newNotification({ user_id: user._id, purpose: 'password_changed', invites_revoked: 7 });
      const plain = newNotification({ user_id: user._id, purpose: 'password_changed' });
      for (const event of [changed, scheduled, login, reset, plain]) {
        await fixture.publish(event);
        await eventually('it is delivered', () => fixture.isDelivered(event));
      }
      // On a slow machine a mail may come twice.
      const textsTo = (address: string) => [
        ...new Set(sink.mails().flatMap(({ to, text }) => (to === address ? [text] : []))),
      ];
      expect(textsTo('old@example.com')).toEqual([
        expect.stringContaining(createEmailChangeTokens(keys).issue(change_id)),
      ]);
      // The newest mail comes first.
      expect(textsTo(user.email)).toEqual([
        expect.stringContaining('revoked with it: 0'),
        expect.stringContaining('revoked with it: 7'),
        expect.stringContaining('on a new device'),
        expect.stringContaining('December 24, 2026'),
      ]);
    }),
  );

  test.concurrent(
    'a mail subscriber sends the notification of an ordered removal with the token that stops it, unless it was stopped',
    closingAll(async (closing) => {
      const sink = await startSink(closing);
      const fixture = closing(await openWorkerFixture([subscriberAt(sink.port)]));
      const worker = closing(await startTestWorker(fixture.env));
      const removal = newRemoval(new Date(), 'mail');
      const sealed = { factor_id: randomUUID(), kid: 'k', seed: new Binary(Buffer.alloc(48)) };
      const totp = { ...sealed, confirmed_at: new Date(), last_step: 7, removal };
      const user = { ...newUserDocument(new Date()), totp };
      await fixture.collections.users.insertOne(user);
      const fields = { user_id: user._id, purpose: 'second_factor_removal_ordered' } as const;
      const due_at = '2026-12-24T10:00:00.000Z';
      const [stopped, ordered] = [randomUUID(), removal.id].map((removal_id) =>
        newNotification({ ...fields, removal_id, due_at }),
      );
      for (const event of [stopped, ordered]) {
        if (event === undefined) continue;
        await fixture.publish(event);
        await eventually('it is delivered', () => fixture.isDelivered(event));
      }
      expect(await worker.metric('auth_mails_total', { outcome: 'void' })).toBeGreaterThanOrEqual(1);
      const [mail] = sink.mails();
      expect(mail?.to).toBe(user.email);
      expect(mail?.text).toContain(createRemovalStopTokens(keys).issue(removal.id));
      expect(mail?.text).toContain('December 24, 2026');
      expect(new Set(sink.mails().map(({ text }) => text)).size).toBe(1);
    }),
  );

  test.concurrent(
    'a mail subscriber sends nothing if there is nothing left to send, and takes no other event',
    closingAll(async (closing) => {
      const sink = await startSink(closing);
      const fixture = closing(await openWorkerFixture([subscriberAt(sink.port)]));
      const worker = closing(await startTestWorker(fixture.env));
      const used = await askForCode(fixture, {}, { ended_at: new Date() });
      const ofAnother = await askForCode(fixture, {}, { user_id: randomUUID() });
      const events = [newCodeRequest(), used.event, ofAnother.event, newNotification({ user_id: randomUUID() })];
      for (const event of events) await fixture.publish(event);
      for (const event of events) await eventually('it is settled', () => fixture.isDelivered(event));
      expect(await worker.metric('auth_mails_total', { outcome: 'void' })).toBeGreaterThanOrEqual(4);
      const late = newCodeRequest(new Date(Date.now() - 1));
      await fixture.publish(late);
      await eventually('it is settled', () => fixture.isDelivered(late));
      expect(sink.mails()).toEqual([]);
      expect(await fixture.collections.deadLetters.countDocuments()).toBe(0);
    }),
  );

  // guarantees: code-mailed-while-valid
  test.concurrent(
    'a mail server that is away delays no other subscriber, and gets the mail when it is back',
    closingAll(async (closing) => {
      const receiver = closing(await startReceiver('analytics'));
      const port = await findFreePort();
      const fixture = closing(await openWorkerFixture([subscriberAt(port), receiver.subscriber]));
      const worker = closing(await startTestWorker(fixture.env));
      const { event, to, code } = await askForCode(fixture);
      await fixture.publish(event);
      await eventually('the webhook has it', async () => receiver.ids().includes(event.id));
      await eventually('the mail has failed', async () =>
        ((await fixture.row(event)).attempt_log ?? []).some(({ outcome }) => outcome === 'failed'),
      );
      expect((await fixture.row(event)).last_error).toBe('mail: no answer: ESOCKET');
      expect(await worker.metric('auth_mails_total', { outcome: 'failed' })).toBeGreaterThan(0);
      const sink = await startMailSink(() => undefined, {}, port);
      closing({ close: sink.stop });
      await eventually('it is delivered', () => fixture.isDelivered(event));
      expect(sink.mails()[0]).toMatchObject({ to, subject: expect.stringContaining(code) });
      const body = JSON.stringify(receiver.received);
      for (const secret of [to, code]) expect(body).not.toContain(secret);
    }),
  );

  test.concurrent(
    'a mail subscriber whose server refuses the recipient reports that without the email address',
    closingAll(async (closing) => {
      const refusing = await startMailSink(() => undefined, {
        onRcptTo: ({ address }, _session, callback) => callback(new Error(`no such user ${address}`)),
      });
      closing({ close: refusing.stop });
      const fixture = closing(await openWorkerFixture([subscriberAt(refusing.port)]));
      closing(await startTestWorker(fixture.env));
      const { event, to } = await askForCode(fixture);
      await fixture.publish(event);
      await eventually('it has failed', async () => (await fixture.row(event)).last_error !== undefined);
      const row = await fixture.row(event);
      expect(row.last_error).toBe('mail: answered 550');
      expect(JSON.stringify(row)).not.toContain(to);
    }),
  );
});
