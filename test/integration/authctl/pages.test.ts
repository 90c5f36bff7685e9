import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession } from '../../support/api/accounts.ts';
import { authctl, authctlJson } from '../../support/processes/authctl.ts';
import { findPageCommands } from '../../tools/cluster/page-commands.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
beforeAll(async () => {
  fixture = await openOperatorFixture();
});
afterAll(() => fixture.close());

/** Splits a command line that has no quotes within words. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** The cluster test's long form runs all commands of the pages, kubectl's too (docs/testing.md). */
test('each command of the runbooks and of operations.md is one that authctl has', async () => {
  const { options } = fixture;
  const { user_id } = await newSession(fixture);
  const { events } = await authctlJson(['events', 'list'], options);
  const { subscribers } = await authctlJson(['events', 'subscribers'], options);
  const values = { user_id, event_id: events[0].event_id, subscriber: subscribers[0].name };
  const lines = findPageCommands({ ...values, request_id: randomUUID(), why: 'a test', pod: 'none' });
  const own = lines.map(wordsOf).filter(([program]) => program === 'authctl');
  expect(own.length).toBeGreaterThan(12);
  const runs: string[] = [];
  for (const [, ...args] of own) {
    const { exitCode, stderr } = await authctl(args, options);
    // 1 means that nothing was found, or a check failed. Any other failure means that the line is wrong.
    if (exitCode > 1) runs.push(`${args.join(' ')}: ${exitCode} ${stderr}`);
  }
  expect(runs).toEqual([]);
});
