import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadNodeBinding } from './argon2-binding.ts';
import { createHashThreads, type HashThreads } from './hash-threads.ts';
import { startHashThread } from './start-hash-thread.ts';

const cost = { memoryKib: 1_024, passes: 2, lanes: 1 };

let threads: HashThreads;
const deaths: unknown[] = [];
const fallbacks: unknown[] = [];
const start = () =>
  createHashThreads({ onFallback: (error) => fallbacks.push(error), onDeath: (error) => deaths.push(error) });
beforeAll(async () => {
  threads = await start();
});
afterAll(() => threads.close());

/**
 * Returns the niceness of each thread of this process, by the thread's id. It is field 19 of proc(5)'s stat, whose
 * second field is in brackets. Leaves out threads that end meanwhile.
 */
function nicenesses(): Map<string, number> {
  const found = new Map<string, number>();
  for (const id of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      found.set(id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
    } catch (error) {
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return found;
}

/** Runs the program, which has a hash `thread`, in a process of its own until it exits by itself. Returns its output. */
function outputOf(program: string, under: readonly string[] = []): string {
  const start = `
    import { startHashThread } from ${JSON.stringify(new URL('./start-hash-thread.ts', import.meta.url).href)};
    const thread = await startHashThread(() => {});`;
  const [command = '', ...args] = [...under, process.execPath, '--input-type=module', '--eval', start + program];
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
}

/**
 * Command that starts a process with a higher niceness than hash threads have, and without the right to lower it. It is
 * no higher than that, because a nicer process would wait for long on a busy machine.
 */
const nicer = [...(process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice'] : []), ...['nice', '-n', '11']];

describe('hash threads', () => {
  (process.platform === 'linux' ? test : test.skip)(
    'hash threads start even if the process is nicer already and may not be less so',
    () => {
      expect(outputOf('console.log(thread.hello.argon2Name); await thread.end();', nicer)).toBe('@node-rs/argon2\n');
    },
  );

  test('hash threads give the same results as the bindings', async () => {
    const phc = await threads.argon2.hash('Käsekuchen 😀', cost);
    expect(await (await loadNodeBinding()).verify(phc, 'Käsekuchen 😀')).toBe(true);
    expect(await threads.argon2.verify(phc, 'Käsekuchen 😀')).toBe(true);
    expect(await threads.argon2.verify(phc, 'Käsekuchen')).toBe(false);
    expect(threads.argon2.name).toBe('@node-rs/argon2');
    expect(fallbacks).toEqual([]);
  });

  test('hash threads verify bcrypt hashes', async () => {
    // One of the bcrypt test vectors that all implementations share (Openwall crypt_blowfish).
    const stored = '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
    expect(await threads.bcrypt.verify(stored, 'U*U')).toBe(true);
    expect(await threads.bcrypt.verify(stored, 'U*V')).toBe(false);
  });

  test('hash threads reject an invalid hash, and continue', async () => {
    await expect(threads.argon2.verify('no hash', 'password')).rejects.toThrow();
    expect(await threads.argon2.hash('password', cost)).toMatch(/^\$argon2id\$/);
  });

  test('hash threads do several jobs at once, each with its own answer', async () => {
    const passwords = ['one', 'two'];
    const hashes = await Promise.all(passwords.map((password) => threads.argon2.hash(password, cost)));
    const verified = hashes.flatMap((phc) => passwords.map((password) => threads.argon2.verify(phc, password)));
    expect(await Promise.all(verified)).toEqual([true, false, false, true]);
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('hash threads give way to the event loop, and leave its own niceness alone', async () => {
    const before = nicenesses();
    const others = await start();
    const added = [...nicenesses()].filter(([id]) => !before.has(id));
    expect(added.map(([, niceness]) => niceness)).toContain(10);
    expect(nicenesses().get(String(process.pid))).toBe(before.get(String(process.pid)));
    await others.close();
  });

  test('hash threads keep the process alive only for their jobs', () => {
    const args = JSON.stringify(['password', cost]);
    const program = `thread.run({ kind: 'hash', args: ${args} }).then(({ value }) => console.log(value));`;
    expect(outputOf(program)).toMatch(/^\$argon2id\$/);
  });

  test('hash threads that have ended reject every job', async () => {
    const thread = await startHashThread(() => undefined);
    await thread.end();
    await expect(thread.run({ kind: 'hash', args: ['password', cost] })).rejects.toThrow('the hash thread was ended');
  });

  test('hash threads that are closed reject their job, and are not reported as crashed', async () => {
    const others = await start();
    const job = others.argon2.hash('password', { memoryKib: 65_536, passes: 20, lanes: 1 });
    const ended = expect(job).rejects.toThrow('the hash thread was ended');
    await others.close();
    await ended;
    expect(deaths).toEqual([]);
  });
});
