import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The ports to choose from. They are below each system's ephemeral range (Linux from 32,768, macOS and Windows from
 * 49,152), Kubernetes' node ports (from 30,000) and MongoDB's 27,017. Between the search and the `listen`, the system
 * could give a port of the ephemeral range to any other connection or `listen(0)` on the machine.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 26_999;

const ATTEMPTS = 100;

const given = new Set<number>();

/**
 * Returns a TCP port on 127.0.0.1 that was free a moment ago and that no earlier call of this process returned. Another
 * process may take it first, so the caller must still report a failed bind.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free TCP port among ${ATTEMPTS} tried between ${FIRST_PORT} and ${LAST_PORT}.`);
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
