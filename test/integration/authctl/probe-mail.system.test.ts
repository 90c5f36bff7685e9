import { createServer } from 'node:http';
import { type MailSink, startMailSink } from '@auth-account/local-stack/mail-sink';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newEmail } from '../../support/api/accounts.ts';
import { listen } from '../../support/listen.ts';
import { authctl, authctlJson } from '../../support/processes/authctl.ts';
import { startProbe, untilRuns } from '../../support/processes/probe-process.ts';
import { countStored, type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

const token = 'a token of the mailbox';
let fixture: OperatorFixture;
let sink: MailSink;
let mailbox: Awaited<ReturnType<typeof listen>>;
let env: Record<string, string>;
/** Answer that the mailbox gives instead of its mails, if any. */
let answer: { readonly status: number; readonly body: string } | undefined;

beforeAll(async () => {
  sink = await startMailSink(() => undefined);
  const server = createServer((request, response) => {
    const { status, body } = answer ?? { status: 200, body: JSON.stringify(sink.mails()) };
    const isAllowed = request.headers.authorization === `Bearer ${token}`;
    response.writeHead(isAllowed ? status : 401).end(body);
  });
  mailbox = await listen(server);
  const url = `smtp://127.0.0.1:${sink.port}`;
  const subscriber = { name: 'mail', kind: 'smtp', url, starttls: false, from: 'no-reply@kitchen.example' };
  const EVENT_SUBSCRIBERS = JSON.stringify([subscriber]);
  fixture = await openOperatorFixture({ EVENT_SUBSCRIBERS });
  const { MONGODB_URI = '', MONGODB_DATABASE = '' } = fixture.options.env;
  env = {
    ...{ MONGODB_URI, MONGODB_DATABASE, PROBE_API_URL: fixture.apiUrl, BIND_ADDRESS: '127.0.0.1' },
    PROBE_MAIL_URL: `${mailbox.url}/mail`,
    PROBE_MAIL_TOKEN: token,
  };
});
afterAll(async () => {
  await fixture.close();
  await sink.stop();
  await mailbox.close();
});
beforeEach(() => {
  answer = undefined;
});

const main = ['register', 'login', 'open', 'logout', 'close'];
const withMail = [
  ...main,
  ...['reset', 'reset_mail', 'reset_confirm', 'login_again'],
  ...['deletion', 'deletion_mail', 'deletion_confirm'],
];
const stepsOf = ({ steps }: { readonly steps: readonly { readonly step: string }[] }) => steps.map(({ step }) => step);

describe('probe --with-mail', () => {
  test('probe --with-mail resets the password and orders the deletion with codes from the mailbox, and leaves nothing', async () => {
    const run = await authctl(['probe', '--with-mail', '--json'], { env });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const report = JSON.parse(run.stdout);
    expect(report).toMatchObject({ ok: true, clean_up: { outcome: 'done' } });
    expect(stepsOf(report)).toEqual(withMail);
    const [address, ...others] = new Set(sink.mails().map(({ to }) => to));
    expect(address).toMatch(/^probe-[0-9a-f-]{36}@probe\.invalid$/);
    expect(others).toEqual([]);
    const codes = sink.mails().flatMap(({ subject }) => subject.match(/[0-9]{8}/) ?? []);
    expect(codes).toHaveLength(2);
    for (const secret of [...codes, token, '@']) expect([secret, run.stdout.includes(secret)]).toEqual([secret, false]);
    expect(await countStored(fixture)).toEqual({});
  });

  test.each([
    ['has no mail', 200, '[]', ['--mail-wait', '1s'], 'nothing within 1 s'],
    ['fails', 503, 'secret', [], 'the mailbox answered 503'],
    ['answers with a page', 200, '<html>secret</html>', [], 'the answer of the mailbox is not JSON'],
    ['answers in another form', 200, '{"mails":[]}', [], "not of the contract's form: / must be array"],
  ])('a mailbox that %s fails the probe at its step, and the account is removed all the same', async (...given) => {
    const [_case, status, body, args, fault] = given;
    answer = { status, body };
    const report = await authctlJson(['probe', '--with-mail', ...args], { env }, 1);
    expect(report).toMatchObject({ ok: false, close: expect.any(Object), clean_up: { outcome: 'done' } });
    expect(stepsOf(report)).toEqual([...main, 'reset', 'reset_mail']);
    expect(report.steps.at(-1)).toMatchObject({ step: 'reset_mail', ok: false, fault });
    expect(await countStored(fixture)).toEqual({});
  });

  test('a mailbox that wants another token is reported by its status', async () => {
    const report = await authctlJson(['probe', '--with-mail'], { env: { ...env, PROBE_MAIL_TOKEN: 'wrong' } }, 1);
    expect(report.steps.at(-1)).toMatchObject({ step: 'reset_mail', fault: 'the mailbox answered 401' });
  });

  test.each([
    ['no mailbox', [], { PROBE_MAIL_URL: '' }, '--mail-url'],
    ['an account that is there already', ['--email', newEmail()], { PROBE_PASSWORD: 'secret' }, 'leave out --email'],
  ])('probe --with-mail with %s is refused at once', async (_case, args, more, why) => {
    const run = await authctl(['probe', '--with-mail', ...args], { env: { ...env, ...more } });
    expect(run).toMatchObject({ exitCode: 78, stdout: '', stderr: expect.stringContaining(why) });
  });

  test('probe --with-mail --interval goes through the mailbox now and then, and has a metric for that', async () => {
    const probe = await startProbe(env, ['--with-mail', '--mail-every', '1h', '--timeout', '60s']);
    await untilRuns(probe, 'success', 2);
    expect(await probe.metric('auth_probe_mail_success')).toBe(1);
    expect(await probe.metric('auth_probe_step_duration_seconds_count{step="deletion_confirm"}')).toBe(1);
    expect(await probe.metric('auth_probe_step_duration_seconds_count{step="close"}')).toBeGreaterThan(1);
    expect(await probe.stop()).toBe(0);
  });

  test('probe --with-mail --interval distinguishes a mailbox that fails from a main path that does', async () => {
    answer = { status: 503, body: '' };
    const probe = await startProbe(env, ['--with-mail', '--mail-every', '1s', '--timeout', '60s']);
    await untilRuns(probe, 'failure', 1);
    expect(await probe.metric('auth_probe_mail_success')).toBe(0);
    expect(await probe.metric('auth_probe_success')).toBe(1);
    expect(await probe.stop()).toBe(0);
  });
});
