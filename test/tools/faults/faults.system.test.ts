import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createRandom } from '../../model/simulate-refresh.ts';
import { faultSequence } from './kinds/fault.ts';
import { linkFaults } from './kinds/process-faults.ts';
import { mongoFaults } from './kinds/store-faults.ts';

const program = fileURLToPath(new URL('faults.ts', import.meta.url));

/** One fault of each store, and one of the services. The long form has more (`npm run faults`). */
const kinds = 'SIGSTOP of the MongoDB primary|Redis emptied|kill -9 of every process';

/**
 * Arguments by which the number of faults ends the run, and not the time, because a busy machine needs more of it. This
 * seed's faults are short, the users are few, and a killed process leaves its locks for a short time.
 */
const args = [
  ...['--seed', '52', '--minutes', '60', '--faults', '3', '--only', kinds],
  ...['--rate', '12', '--population', '40', '--lock-seconds', '5'],
];

/** Limit for a program that hangs. It is then stopped, and reports its results so far, before the test’s own limit. */
const timeout = 480_000;

// guarantees: true-under-faults
test('kills, a frozen primary and an emptied Redis break no promise to an app', async () => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout });
  const [output, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ code, report: code === 0 ? '' : output + complaints }).toEqual({ code: 0, report: '' });
  expect(output).toContain('3 faults, 1 kills');
  expect(output).toContain('0 violations');
  // Registrations and logins come first. Without other changes the run would show nothing about the accounts' further
  // life.
  expect(output).toMatch(/^\| (password|code, \w+|deletion) \|/m);
  for (const kind of ['login, provider', 'removal, order']) {
    expect(output).toMatch(new RegExp(`^\\| ${kind} \\| [1-9]`, 'm'));
  }
  for (const secret of ['password', 'factor', 'code']) {
    expect(output).toMatch(new RegExp(`^\\| wrong ${secret} \\| 0 \\| [1-9]`, 'm'));
  }
  // The users of the client, too, have kept their sessions, refreshed them, and logged out.
  const kept = /^24 users of the client: [1-9]\d* sessions opened, 0 lost, [1-9]\d* signed in at the end/m;
  expect(output).toMatch(kept);
  expect(output).toMatch(/, [1-9]\d* refreshes, [1-9]\d* sign-outs/);
}, 560_000);

test('a seed repeats the faults, and every kind comes once in each round', () => {
  const all = [...mongoFaults, ...linkFaults];
  const take = (seed: number) => {
    const sequence = faultSequence(all, createRandom(seed));
    return Array.from({ length: all.length * 2 }, () => sequence.next().value.name);
  };
  expect(take(1)).toEqual(take(1));
  expect(take(1)).not.toEqual(take(2));
  expect(new Set(take(3).slice(0, all.length)).size).toBe(all.length);
});
