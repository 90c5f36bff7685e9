import { get } from 'node:http';
import type { SmtpSubscriber } from '@auth-account/config';
import { findFreePort } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import {
  type LocalSubscriber,
  startEventSubscriber,
} from '../../../libs/local-stack/src/stack/start-event-subscriber.ts';
import { createSmtpSender, type SmtpSender } from '../../../services/worker/src/mail/smtp-sender.ts';

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

const ask = (accept: string) => fetch(address, { headers: { accept, connection: 'close' } });

test('the mails lie on a page and as JSON, the newest first, and each has a line of the screen', async () => {
  expect(await (await ask('text/html')).text()).toContain('None yet');
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
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.json()).toEqual(
    ['22222222', '11111111'].map((code) => ({
      to: 'cook@example.com',
      subject: `${code} is <your> code`,
      text: expect.stringContaining(code),
      html: expect.stringContaining(`<b>${code}</b>`),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })),
  );
  const page = await (await ask('text/html')).text();
  expect(page).toContain('<h2>22222222 is &lt;your&gt; code</h2>');
  expect(page).toContain('srcdoc="&lt;b&gt;22222222&lt;/b&gt;');
  expect(printed).toEqual(['11111111', '22222222'].map((code) => `to cook@example.com: ${code} is <your> code`));
});

test('a request that names another host is refused: a foreign site may have pointed its name at this machine', async () => {
  const status = await new Promise((resolve, reject) => {
    get(address, { headers: { host: 'mails.example.com' }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });
  expect(status).toBe(421);
});

test.each(['//', '//127.0.0.1:1/api/x', 'http://127.0.0.1:1/api/x', '/\\\\127.0.0.1/'])(
  'a request for %s is refused, and ends nothing',
  async (path) => {
    const status = await new Promise((resolve, reject) => {
      get({ port: new URL(address).port, path, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
    });
    expect(status).toBe(400);
    expect((await ask('text/html')).status).toBe(200);
  },
);

test('spans that a page of another site sends are refused', async () => {
  const options = { method: 'POST', headers: { Origin: 'http://localhost:1', connection: 'close' }, body: '{}' };
  expect((await fetch(new URL('/v1/traces', address), options)).status).toBe(403);
});

test('the page of the stack alone can have the gateway killed, and no other site', async () => {
  const { origin } = new URL(address);
  const kill = async (headers: Record<string, string>) =>
    (await fetch(`${origin}/gateway`, { method: 'DELETE', headers: { ...headers, connection: 'close' } })).status;
  expect(await kill({ Origin: 'http://somewhere.example' })).toBe(403);
  expect(await kill({})).toBe(403);
  expect(killGateway).not.toHaveBeenCalled();
  expect(await kill({ Origin: origin })).toBe(204);
  expect(killGateway).toHaveBeenCalledTimes(1);
});
