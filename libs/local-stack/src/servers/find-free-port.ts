import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * The ports to choose from. They are below each system's ephemeral range (Linux from 32,768, macOS and Windows from
 * 49,152), Kubernetes' node ports (from 30,000) and MongoDB's 27,017. Between the search and the `listen`, the system
 * could give a port of the ephemeral range to any other connection or `listen(0)` on the machine.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 26_999;

const ATTEMPTS = 100;

/** Has a file for each reserved port, named like it, with the id of the process that reserved it. */
const reservations = join(tmpdir(), `auth-account-ports-${userInfo().uid}`);

/**
 * Returns a TCP port on 127.0.0.1 that was free a moment ago, and reserves it for as long as this process lives: no
 * other call returns it, neither here nor in another process of this user. A program that chooses its ports in another
 * way may take it first, so the caller must still report a failed bind.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error(`No free TCP port among ${ATTEMPTS} tried between ${FIRST_PORT} and ${LAST_PORT}.`);
}

const reserved: string[] = [];

function release(): void {
  for (const file of reserved) rmSync(file, { force: true });
}

/** Returns false if the port is reserved. */
function reserve(port: number): boolean {
  mkdirSync(reservations, { recursive: true });
  const file = join(reservations, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    if (reserved.push(file) === 1) process.once('exit', release);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // The port of a process that was killed is free for the next search that draws it.
    if (!isHeld(file)) rmSync(file, { force: true });
    return false;
  }
}

function isHeld(file: string): boolean {
  try {
    return process.kill(Number(readFileSync(file, 'utf8')), 0);
  } catch (error) {
    // The file was removed, or is still empty, or names a process that has ended (ESRCH) or is another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (listens) await new Promise<void>((resolve) => server.close(() => resolve()));
  return listens;
}
