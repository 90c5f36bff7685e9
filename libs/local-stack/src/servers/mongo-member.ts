import { mkdir } from 'node:fs/promises';
import { type OnSpawn, type ServerProcess, spawnServer } from './spawn-server.ts';

export interface MongoMemberOptions {
  readonly binary: string;
  readonly dir: string;
  readonly logFile: string;
  readonly port: number;
  readonly replicaSet: string;
  readonly setParameters: Readonly<Record<string, string>>;
  readonly onSpawn: OnSpawn;
  readonly onUnexpectedExit: () => void;
}

/** One mongod of a replica set. It can be ended and started again on the same port and data. */
export interface MongoMember {
  readonly port: number;
  /** Returns the process id, or undefined while the process does not run. */
  pid(): number | undefined;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
  /** If the process has ended by itself, throws an error with the end of mongod's log. */
  assertRunning(): Promise<void>;
}

export function createMongoMember(options: MongoMemberOptions): MongoMember {
  let server: ServerProcess | undefined;
  return {
    port: options.port,
    pid: () => (server?.isRunning() ? server.pid : undefined),
    async start() {
      if (server?.isRunning()) return;
      await mkdir(options.dir, { recursive: true });
      server = await spawnServer({
        name: 'mongod',
        binary: options.binary,
        args: mongodArguments(options),
        logFile: options.logFile,
        onSpawn: options.onSpawn,
        onUnexpectedExit: options.onUnexpectedExit,
      });
    },
    async end(signal) {
      await server?.end(signal);
    },
    async assertRunning() {
      if (server?.isRunning()) return;
      throw new Error(
        `mongod on port ${options.port} (data in ${options.dir}) ended: ${complaintsIn(await server?.readLogTail())}`,
      );
    },
  };
}

function mongodArguments({ dir, port, replicaSet, setParameters }: MongoMemberOptions): string[] {
  const parameters = {
    diagnosticDataCollectionEnabled: 'false',
    // Otherwise, after SIGTERM, a primary would wait up to 15 s for its secondaries.
    shutdownTimeoutMillisForSignaledShutdown: '100',
    ...setParameters,
  };
  return [
    ...['--dbpath', dir, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...['--replSet', replicaSet, '--oplogSize', '128', '--wiredTigerCacheSizeGB', '0.25', '--quiet'],
    ...Object.entries(parameters).flatMap(([name, value]) => ['--setParameter', `${name}=${value}`]),
  ];
}

/**
 * Returns the errors at the end of mongod's log. The log has one JSON object per line; errors have the severity F
 * (fatal) or E (error).
 */
function complaintsIn(log = ''): string {
  const complaints = log.split('\n').flatMap((line) => {
    const match = /"s":"[FE]".*"msg":("(?:[^"\\]|\\.)*")(?:,"attr":(.*))?}$/.exec(line);
    return match ? [`${match[1]} ${match[2] ?? ''}`] : [];
  });
  return complaints.length > 0 ? complaints.join('\n') : log;
}
