import { createServer } from 'node:net';

/**
 * A TCP port on 127.0.0.1 that nothing listened on a moment ago. Another process may take it before the caller does, so
 * whoever uses it must still report a failed bind.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('The system gave no TCP port.');
  return address.port;
}
