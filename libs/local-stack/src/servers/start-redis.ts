import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { provideRedisBinary } from '../provision/provide-redis.ts';
import { findFreePort } from './find-free-port.ts';
import { type OnSpawn, type ServerProcess, spawnServer } from './spawn-server.ts';
import { waitUntil } from './wait-until.ts';

const READY_TIMEOUT_MS = 60_000;

export interface StartRedisOptions {
  /** Directory of the append-only file and the log. It is kept when the server stops. */
  readonly dir: string;
  /** Port. If left out, a free port is chosen. */
  readonly port?: number;
  /** Additional arguments of redis-server, for example `['--maxmemory', '64mb']`. */
  readonly extraArgs?: readonly string[];
  /** Path of redis-server. If left out, a redis-server is found or provided. */
  readonly binary?: string;
  readonly log: Log;
  readonly onSpawn?: OnSpawn;
  /** Called if the server has ended without being stopped or killed through this library. */
  readonly onUnexpectedExit?: () => void;
}

export interface LocalRedis {
  readonly url: string;
  readonly port: number;
  /** Returns the process id, or undefined while the server does not run. */
  pid(): number | undefined;
  /** Ends the server in an orderly way. */
  stop(): Promise<void>;
  /** Sends a signal (default SIGKILL) and waits for the end of the process. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and data, and waits until it answers. */
  start(): Promise<void>;
}

/**
 * Starts Redis on 127.0.0.1 with the settings that BullMQ needs (`maxmemory-policy noeviction`, append-only file synced
 * every second) and waits until it answers. If Redis does not start, throws an error with the end of its log.
 */
export async function startRedis(options: StartRedisOptions): Promise<LocalRedis> {
  const binary = options.binary ?? (await provideRedisBinary({ log: options.log }));
  const port = options.port ?? (await findFreePort());
  await mkdir(options.dir, { recursive: true });
  let server: ServerProcess | undefined;
  const redis: LocalRedis = {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => (server?.isRunning() ? server.pid : undefined),
    async stop() {
      await server?.end('SIGTERM');
    },
    async kill(signal = 'SIGKILL') {
      await server?.end(signal);
    },
    async start() {
      if (server?.isRunning()) return;
      const args = redisArguments(options.dir, port, options.extraArgs ?? []);
      server = await spawnServer({
        name: 'redis',
        binary,
        args,
        logFile: join(options.dir, 'redis.log'),
        onSpawn: (pid) => options.onSpawn?.(pid),
        onUnexpectedExit: () => options.onUnexpectedExit?.(),
      });
      await waitUntilAnswering(port, server);
    },
  };
  try {
    await redis.start();
  } catch (error) {
    await redis.kill();
    throw error;
  }
  return redis;
}

function redisArguments(dir: string, port: number, extraArgs: readonly string[]): string[] {
  return [
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--daemonize', 'no'],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '', '--maxmemory-policy', 'noeviction'],
    // A title set by the process would hide the directory by which a later start recognises the process.
    ...['--set-proc-title', 'no'],
    ...extraArgs,
  ];
}

async function waitUntilAnswering(port: number, server: ServerProcess): Promise<void> {
  await waitUntil(
    async () => {
      if (!server.isRunning()) throw new Error(`redis-server on port ${port} ended: ${await server.readLogTail()}`);
      return answersPing(port);
    },
    { what: `An answer of Redis on 127.0.0.1:${port}`, timeoutMs: READY_TIMEOUT_MS, intervalMs: 20 },
  );
}

/**
 * Returns true if a Redis on this port accepts commands, or asks for a password. Returns false if it still reads its
 * append-only file and answers `-LOADING`. It uses a plain socket, because a client library would keep timers for
 * seconds after the question.
 */
async function answersPing(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
  socket.on('timeout', () => socket.destroy(new Error('timeout')));
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    return /^(\+PONG|-NOAUTH)/.test(String(answer));
  } catch {
    // Refused, reset or silent: not up yet. The caller asks again and decides when to give up.
    return false;
  } finally {
    socket.destroy();
  }
}
