import { generateKeyPairSync } from 'node:crypto';
import { findFreePort } from '@auth-account/local-stack';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { startProvider } from '@auth-account/local-stack/provider';
import { checkMail, checkProviders } from '@auth-account/operations/doctor';
import { expect, jest, test } from '@jest/globals';
import { exchangingEntry } from '../../support/api/providers.ts';

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
  const strict = await startMailSink(() => undefined, {
    onConnect: (_session, callback) => callback(Object.assign(new Error('4.7.0 Who are you?'), { responseCode: 421 })),
  });
  const closed = await findFreePort();
  const findings = await checkMail({
    EVENT_SUBSCRIBERS: [
      subscriberAt(sink.port),
      { kind: 'queue' },
      subscriberAt(closed, { name: 'away' }),
      subscriberAt(sink.port, { name: 'open', starttls: true }),
      subscriberAt(strict.port, { name: 'strict' }),
    ],
  });
  const fix = expect.stringContaining('EVENT_SUBSCRIBERS');
  expect(findings).toEqual([
    { check: 'mail server mail', status: 'ok', detail: `127.0.0.1:${sink.port} takes mails` },
    { check: 'mail server away', status: 'failed', detail: expect.stringMatching(/no answer: [A-Z]+$/), fix },
    {
      check: 'mail server open',
      status: 'failed',
      detail: expect.stringMatching(/(answered \d+ .+|no answer: [A-Z]+)$/),
      fix,
    },
    {
      check: 'mail server strict',
      status: 'failed',
      detail: expect.stringContaining('answered 421 4.7.0 Who are you?'),
      fix: expect.stringContaining('ehlo_name (now kitchen.example)'),
    },
  ]);
  expect(sink.mails()).toEqual([]);
  await Promise.all([sink.stop(), strict.stop()]);
});

test('the doctor fetches the keys of each provider', async () => {
  // No stall of the machine ends a request.
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  const [provider, broken, bare] = [await startProvider(), await startProvider(), await startProvider()];
  try {
    broken.behave({ status: 503 });
    const { n, e } = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' });
    const key = { kty: 'RSA', n, e };
    bare.behave({ body: JSON.stringify({ keys: [key, { ...key, use: 'enc' }] }) });
    const away = `http://127.0.0.1:${await findFreePort()}/keys`;
    const entry = (name: string, jwks_uri = provider.jwksUri) => ({
      ...{ name, jwks_uri, issuers: [provider.issuer], client_ids: ['app'] },
    });
    const findings = await checkProviders({
      IDENTITY_PROVIDERS: [
        entry('office'),
        { ...entry('wrong'), algorithms: ['EdDSA'] },
        entry('bare', bare.jwksUri),
        { ...entry('curve', bare.jwksUri), algorithms: ['ES256', 'EdDSA'] },
        entry('broken', broken.jwksUri),
        entry('away', away),
      ],
    });
    const fix = expect.stringContaining('IDENTITY_PROVIDERS');
    expect(findings).toEqual([
      { check: 'provider office', status: 'ok', detail: expect.stringMatching(/has [1-9] of \d keys for RS256$/) },
      {
        check: 'provider wrong',
        status: 'failed',
        detail: expect.stringMatching(/has 0 of \d keys for EdDSA, Ed25519$/),
        fix,
      },
      { check: 'provider bare', status: 'ok', detail: `${bare.jwksUri} has 1 of 2 keys for RS256` },
      {
        check: 'provider curve',
        status: 'failed',
        detail: `${bare.jwksUri} has 0 of 2 keys for ES256, EdDSA, Ed25519`,
        fix,
      },
      { check: 'provider broken', status: 'failed', detail: `${broken.jwksUri}: status 503`, fix },
      { check: 'provider away', status: 'failed', detail: `${away}: ECONNREFUSED`, fix },
    ]);
  } finally {
    jest.restoreAllMocks();
    for (const each of [provider, broken, bare]) await each.close();
  }
});

test('the doctor shows each client of a provider to its token endpoint, and names what the provider refuses', async () => {
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  const provider = await startProvider();
  const entry = exchangingEntry(provider);
  const examine = async () =>
    (await checkProviders({ IDENTITY_PROVIDERS: [entry] })).filter(({ check }) => check.startsWith('client'));
  const [app, web] = ['client app at office', 'client web at office'];
  try {
    const detail = `${provider.issuer}/token takes its key KEY`;
    expect(await examine()).toEqual([
      { check: app, status: 'ok', detail },
      { check: web, status: 'ok', detail },
    ]);
    provider.behave({ status: 400, body: '{"error":"invalid_client"}' }, 'token');
    const refused = { status: 'failed', detail: `${provider.issuer}/token refuses it: invalid_client` };
    const fix = expect.stringContaining('private_key');
    expect(await examine()).toEqual([
      { check: app, ...refused, fix },
      { check: web, ...refused, fix },
    ]);
    provider.behave({ status: 503 }, 'token');
    expect(await examine()).toMatchObject([
      { check: app, status: 'warning' },
      { check: web, status: 'warning' },
    ]);
  } finally {
    jest.restoreAllMocks();
    await provider.close();
  }
});
