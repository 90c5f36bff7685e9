import tls from 'node:tls';
import { type MailSink, startMailSink } from '@auth-account/local-stack/mail-sink';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createSmtpSender, type SmtpSender } from '../../../services/worker/src/mail/smtp-sender.ts';
import { mailServerCertificate } from '../../support/worker/mail-server-certificate.ts';

const mail = { to: 'cook@example.com', id: 'event-1', subject: 'Code', text: '01234567', html: '<p>01234567</p>' };
const from = 'Kitchen <no-reply@kitchen.example>';
const authorities = tls.getCACertificates();

type SinkOptions = NonNullable<Parameters<typeof startMailSink>[1]>;

let sink: MailSink;
let sender: SmtpSender | undefined;
beforeAll(() => tls.setDefaultCACertificates([...authorities, mailServerCertificate.cert]));
afterAll(() => tls.setDefaultCACertificates(authorities));
afterEach(async () => {
  sender?.close();
  await sink.stop();
});

const users: SinkOptions = {
  disabledCommands: [],
  authOptional: false,
  onAuth({ username, password }, _session, callback) {
    if (username === 'kitchen' && password === 'p@ss/word') callback(null, { user: username });
    else callback(new Error('no'));
  },
};

async function send(scheme: string, options: SinkOptions, more: object = {}, stop = new AbortController().signal) {
  sink = await startMailSink(() => undefined, options);
  const url = `${scheme}127.0.0.1:${sink.port}`;
  const limits = { timeoutMs: 60_000, connectTimeoutMs: 60_000, connections: 1 };
  sender = createSmtpSender({ subscriber: { url, from, ...more }, ...limits });
  await sender.send(mail, stop);
}

describe('a mail goes out', () => {
  test('a mail goes out over TLS from the first byte, with user and password', async () => {
    await send('smtps://kitchen:p%40ss%2Fword@', { ...mailServerCertificate, ...users, secure: true });
    expect(sink.mails()).toMatchObject([{ to: mail.to, subject: mail.subject, html: mail.html }]);
  });

  test('a mail goes out over STARTTLS, with user and password', async () => {
    await send('smtp://kitchen:p%40ss%2Fword@', { ...mailServerCertificate, ...users });
    expect(sink.mails()).toHaveLength(1);
  });

  test('a mail goes out unencrypted only if that is demanded', async () => {
    await send('smtp://', {}, { starttls: false });
    expect(sink.mails()).toHaveLength(1);
  });
});

test.each([
  ['the domain of the sender', {}, 'kitchen.example'],
  ['the domain of the sender in ASCII', { from: 'no-reply@küche.example' }, 'xn--kche-0ra.example'],
  ['the name that is set', { ehlo_name: 'mx.kitchen.example' }, 'mx.kitchen.example'],
])('a mail server is greeted with %s', async (_what, more, name) => {
  const greetings: unknown[] = [];
  const onMailFrom: SinkOptions['onMailFrom'] = (_address, { hostNameAppearsAs }, callback) => {
    greetings.push(hostNameAppearsAs);
    callback();
  };
  await send('smtp://', { onMailFrom }, { starttls: false, ...more });
  expect(greetings).toEqual([name]);
});

describe('an attempt that sends no mail, whose error has no more than a code', () => {
  // guarantees: mail-over-tls
  test('no mail goes out if the server does not offer STARTTLS', async () => {
    await expect(send('smtp://', {})).rejects.toThrow(/^(no answer: ETLS|answered \d{3})$/);
    expect(sink.mails()).toEqual([]);
  });

  // guarantees: mail-over-tls
  test('no mail goes out if nobody vouches for the server’s certificate', async () => {
    tls.setDefaultCACertificates(authorities);
    await expect(send('smtps://', { ...mailServerCertificate, secure: true })).rejects.toThrow(/^no answer: [A-Z_]+$/);
    tls.setDefaultCACertificates([...authorities, mailServerCertificate.cert]);
    expect(sink.mails()).toEqual([]);
  });

  test('no mail goes out if the password is wrong', async () => {
    const options = { ...mailServerCertificate, ...users, secure: true };
    await expect(send('smtps://kitchen:wrong@', options)).rejects.toThrow(/^answered 535$/);
    expect(sink.mails()).toEqual([]);
  });

  test('no mail goes out once the attempt is ended, although the server never answers', async () => {
    const stop = new AbortController();
    const onRcptTo: SinkOptions['onRcptTo'] = () => stop.abort();
    await expect(send('smtp://', { onRcptTo }, { starttls: false }, stop.signal)).rejects.toThrow('attempt was ended');
  });
});
