import { expect, test } from '@jest/globals';
import { createAuthClient } from '../create-auth-client.ts';
import { household } from '../groups/household.ts';
import { createFakeService, memoryStorage } from '../testing/fake-service.ts';
import { debugEvents, withDebug } from './debug.ts';

test('debug lines show requests, log entries and events, and no secret', async () => {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const service = createFakeService();
  const entries: string[] = [];
  const options = { ...service, storage: memoryStorage(), log: ({ event }: { event: string }) => entries.push(event) };
  const auth = createAuthClient({ ...withDebug(options, write), groups: [household] });
  const stop = debugEvents(auth, write);
  const email = 'anna@example.com';
  const password = 'a long password';
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logIn({ email, password });
  const token = await auth.accessToken();
  const preview = () => auth.invites.find('Q2hhbmdlTWUtc2VjcmV0LWludml0ZQ');
  await preview();
  service.loseNextAnswer();
  await preview().catch(() => undefined);
  await auth.fetch('/api/v1/account?mail=anna').catch(() => undefined);
  await auth.logOut();
  const text = lines.join('\n');
  expect(text).toMatch(/^auth: POST https:\/\/auth\.test\/api\/v1\/auth\/login 20\d \d+ ms$/m);
  expect(text).toMatch(/^auth: GET https:\/\/auth\.test\/api\/v1\/invites\/… 200 /m);
  expect(text).toContain('auth: call_failed {"operation":"findInvite"');
  expect(text).toContain('auth: state signed_in');
  expect(text).toContain('auth: signed_out logged_out');
  expect(entries).toContain('call_failed');
  for (const secret of [email, 'anna', password, token, 'Q2hhb', 'Bearer']) expect(text).not.toContain(secret);
  stop();
  auth.close();
});

test('an error of the network shows its name only', async () => {
  const lines: string[] = [];
  const fetch = async () => Promise.reject(new TypeError('https://user:pw@a.test/?token=b'));
  const options = withDebug({ fetch }, (line) => lines.push(line));
  await expect(options.fetch('https://user:pw@a.test/x?token=b')).rejects.toThrow(TypeError);
  expect(lines).toEqual([expect.stringMatching(/^auth: GET https:\/\/a\.test\/x TypeError \d+ ms$/)]);
});
