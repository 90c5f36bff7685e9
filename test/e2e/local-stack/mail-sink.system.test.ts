import type { SmtpSubscriber } from '@auth-account/config';
import { findFreePort } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import {
  type LocalSubscriber,
  startEventSubscriber,
} from '../../../libs/local-stack/src/stack/start-event-subscriber.ts';
import { createSmtpSender, type SmtpSender } from '../../../services/worker/src/mail/smtp-sender.ts';
import { exchange } from '../../support/gateway/raw-connection.ts';
import { send } from '../../support/http-client.ts';

const printed: string[] = [];
const killGateway = jest.fn();
let address: string;
let subscriber: LocalSubscriber;
let sender: SmtpSender;

beforeAll(async () => {
  const port = await findFreePort();
  address = `http://127.0.0.1:${port}/mail`;
  const apiUrl = 'http://127.0.0.1:1';
  const silent = () => undefined;
  const logs = { events: silent, playground: silent, mails: (line: string) => void printed.push(line) };
  subscriber = await startEventSubscriber({ port, apiUrl, logs, killGateway });
  const entries = JSON.parse(subscriber.configuration) as SmtpSubscriber[];
  const mailer = entries.find(({ kind }) => kind === 'smtp');
  if (mailer === undefined) throw new Error('there is no subscriber of the kind smtp');
  const limits = { timeoutMs: 60_000, connectTimeoutMs: 60_000, connections: 1 };
  sender = createSmtpSender({ subscriber: mailer, ...limits });
});
afterAll(async () => {
  sender.close();
  await subscriber.stop();
});

const ask = (accept: string) => send(address, { method: 'GET', path: '', headers: { accept } });

test('the mails lie on a page and as JSON, the newest first, and each has a line of the screen', async () => {
  expect((await ask('text/html')).text).toContain('None yet');
  for (const code of ['11111111', '22222222']) {
    const mail = {
      to: 'cook@example.com',
      id: code,
      subject: `${code} is <your> code`,
      text: code,
      html: `<b>${code}</b>`,
    };
    await sender.send(mail, new AbortController().signal);
  }
  const answer = await ask('application/json');
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.json).toEqual(
    ['22222222', '11111111'].map((code) => ({
      to: 'cook@example.com',
      subject: `${code} is <your> code`,
      text: expect.stringContaining(code),
      html: expect.stringContaining(`<b>${code}</b>`),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })),
  );
  const page = (await ask('text/html')).text;
  expect(page).toContain('<h2>22222222 is &lt;your&gt; code</h2>');
  expect(page).toContain('srcdoc="&lt;b&gt;22222222&lt;/b&gt;');
  expect(printed).toEqual(['11111111', '22222222'].map((code) => `to cook@example.com: ${code} is <your> code`));
});

test('a request that names another host is refused: a foreign site may have pointed its name at this machine', async () => {
  const { status } = await send(address, { method: 'GET', path: '', headers: { host: 'mails.example.com' } });
  expect(status).toBe(421);
});

test.each(['//', '//127.0.0.1:1/api/x', 'http://127.0.0.1:1/api/x', '/\\\\127.0.0.1/'])(
  'a request for %s is refused, and ends nothing',
  async (path) => {
    const { host, port } = new URL(address);
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect((await exchange(Number(port), head, { waitMs: 60_000 })).statuses).toEqual([400]);
    expect((await ask('text/html')).status).toBe(200);
  },
);

test('spans that a page of another site sends are refused', async () => {
  const { origin } = new URL(address);
  const spans = { path: '/v1/traces', headers: { Origin: 'http://localhost:1' }, body: '{}' };
  expect((await send(origin, spans)).status).toBe(403);
});

test('the page of the stack alone can have the gateway killed, and no other site', async () => {
  const { origin } = new URL(address);
  const kill = async (headers: Record<string, string>) =>
    (await send(origin, { method: 'DELETE', path: '/gateway', headers })).status;
  expect(await kill({ Origin: 'http://somewhere.example' })).toBe(403);
  expect(await kill({})).toBe(403);
  expect(killGateway).not.toHaveBeenCalled();
  expect(await kill({ Origin: origin })).toBe(204);
  expect(killGateway).toHaveBeenCalledTimes(1);
});
