import { createServer } from 'node:net';

/** Says that some ports are in use. The message names each port with the variable that changes it. */
class PortsTakenError extends Error {
  override readonly name = 'PortsTakenError';
}

export interface PortNeed {
  readonly port: number;
  readonly variable: string;
  /** Server that would listen there. */
  readonly purpose: string;
}

/** Throws `PortsTakenError` unless all ports differ and are free on 127.0.0.1. */
export async function assertPortsFree(needs: readonly PortNeed[]): Promise<void> {
  const problems: string[] = [];
  for (const [index, { port, variable, purpose }] of needs.entries()) {
    const other = needs.slice(0, index).find((need) => need.port === port);
    const reason = other ? `is also that of ${other.variable}` : await findReason(port);
    if (reason !== undefined) problems.push(`Port ${port} (${purpose}) ${reason}; choose another one: ${variable}=…`);
  }
  if (problems.length > 0) throw new PortsTakenError(problems.join('\n'));
}

async function findReason(port: number): Promise<string | undefined> {
  const server = createServer();
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
  if (error === undefined) return undefined;
  return error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
}
