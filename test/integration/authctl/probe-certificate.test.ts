import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { expect, test } from '@jest/globals';
import { findFirstEnd } from '../../../services/authctl/src/probe/run-probe-service.ts';
import { mailServerCertificate } from '../../support/worker/mail-server-certificate.ts';

test('the canary reads from the handshake when the certificate of an https or wss server ends', async () => {
  const server = await startMailSink(() => undefined, { secure: true, ...mailServerCertificate });
  const ends = ['https', 'wss'].map((scheme) =>
    findFirstEnd(['http://127.0.0.1:1', `${scheme}://127.0.0.1:${server.port}/ws`], 60_000),
  );
  const end = new Date('2126-10-29T11:46:14.000Z');
  expect(await Promise.all(ends)).toEqual([end, end]);
  await server.stop();
});

test('the canary knows no certificate without TLS, and without a server', async () => {
  expect(await findFirstEnd(['http://127.0.0.1:1', 'https://127.0.0.1:1'], 60_000)).toBeUndefined();
});
