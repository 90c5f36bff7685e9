import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { askForCode } from '../../support/api/code-request.ts';
import { closingAll } from '../../support/closing.ts';
import { newNotification } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture } from '../../support/worker/worker-fixture.ts';
import { type Received, startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** Directory of an empty project that has this repository's packages. */
let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'auth-account-mailer-'));
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rm(project, { recursive: true }));

/** Returns the section's blocks of code. */
async function documentedCode(): Promise<string[]> {
  const page = await readFile(join(root, 'docs/consumers.md'), 'utf8');
  const [, section = ''] = page.split('## Decrypting a secret\n');
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

/** Runs the code in a separate process, and returns the lines that it prints. */
async function runCode(code: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const file = join(project, 'example.ts');
  await writeFile(file, code);
  const { stdout } = await run(process.execPath, [file], { cwd: project, env: { ...process.env, ...env } });
  return stdout.trim().split('\n');
}

/**
 * Code around the example: the names that its reader must define, and calls that pass it one delivery after another.
 */
const before = `
const { WEBHOOK_SECRET } = process.env;
const PRIVATE_JWK = JSON.parse(process.env.PRIVATE_JWK);
const sendMail = async (mail) => console.log(JSON.stringify(mail));
`;
const after = `
for (const { body, headers } of JSON.parse(process.env.DELIVERIES)) {
  await take(body, headers).catch((error) => console.log(error.message));
}
`;

test(
  'the documented mailer reads the codes of its deliveries with the documented keys, and trusts no other sender',
  closingAll(async (closing) => {
    const [makeKeys = '', mailer = ''] = await documentedCode();
    const printed = new Map((await runCode(makeKeys)).map((line) => line.split(/ (?=\{)/) as [string, string]));
    const receiver = closing(await startReceiver('mailer'));
    const encrypt_to = JSON.parse(printed.get('encrypt_to') ?? '');
    const fixture = closing(await openWorkerFixture([{ ...receiver.subscriber, encrypt_to }]));
    closing(await startTestWorker(fixture.env));
    const asked = await askForCode(fixture);
    const notification = newNotification({ user_id: asked.user._id });
    for (const event of [notification, asked.event]) {
      await fixture.publish(event);
      await eventually('it is delivered', () => fixture.isDelivered(event));
    }
    const delivered = ({ id }: { id: string }) => receiver.received.find((one) => one.id === id) as Received;
    const forged = { ...delivered(asked.event), body: delivered(asked.event).body.replace('password_reset', 'reset') };
    const output = await runCode(before + mailer + after, {
      WEBHOOK_SECRET: receiver.subscriber.secret,
      PRIVATE_JWK: printed.get('keep secret'),
      DELIVERIES: JSON.stringify([forged, delivered(notification), delivered(asked.event)]),
    });
    const { to, code, event } = asked;
    const { purpose, locale } = event.data;
    expect([output[0], JSON.parse(output[1] ?? '')]).toEqual([
      'No matching signature found',
      { to, code, purpose, locale, messageId: event.id },
    ]);
    expect(output).toHaveLength(2);
  }),
);
