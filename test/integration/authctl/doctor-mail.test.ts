import { findFreePort } from '@auth-account/local-stack';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { expect, test } from '@jest/globals';
import { checkMail } from '../../../services/authctl/src/commands/doctor/check-mail.ts';

const subscriberAt = (port: number, rest: object = {}) => ({
  name: 'mail',
  kind: 'smtp' as const,
  url: `smtp://127.0.0.1:${port}`,
  from: 'no-reply@kitchen.example',
  starttls: false,
  ...rest,
});

test('the doctor connects to each mail server, and sends nothing', async () => {
  const sink = await startMailSink(() => undefined);
  const closed = await findFreePort();
  const findings = await checkMail({
    EVENT_SUBSCRIBERS: [
      subscriberAt(sink.port),
      { kind: 'queue' },
      subscriberAt(closed, { name: 'away' }),
      subscriberAt(sink.port, { name: 'open', starttls: true }),
    ],
  });
  const mend = expect.stringContaining('EVENT_SUBSCRIBERS');
  expect(findings).toEqual([
    { check: 'mail server mail', status: 'ok', detail: `127.0.0.1:${sink.port} takes mails` },
    { check: 'mail server away', status: 'failed', detail: expect.stringMatching(/no answer: [A-Z]+$/), mend },
    {
      check: 'mail server open',
      status: 'failed',
      detail: expect.stringMatching(/(answered \d+|no answer: [A-Z]+)$/),
      mend,
    },
  ]);
  expect(sink.mails()).toEqual([]);
  await sink.stop();
});
