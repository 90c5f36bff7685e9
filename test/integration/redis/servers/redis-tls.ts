import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, type OnSpawn, type ServerProcess, spawnServer, waitUntil } from '@auth-account/local-stack';
import { failFastOptions, openRedis, type RedisConfig } from '@auth-account/redis';

const run = promisify(execFile);

/** Files of a certificate and its key, as the services' variables. */
export type ClientFiles = Required<Pick<RedisConfig, 'REDIS_CERT_FILE' | 'REDIS_KEY_FILE'>>;

export interface Certificates {
  /** Authority of the server's and the good client's certificate. */
  readonly authority: string;
  readonly server: ClientFiles;
  readonly client: ClientFiles;
  /** A certificate of another authority. */
  readonly otherAuthority: ClientFiles;
  /** An expired certificate of the right authority. */
  readonly expired: ClientFiles;
}

/** A Redis that accepts only TLS, and only clients with a certificate of its authority. */
export interface TlsRedis {
  /** `rediss://127.0.0.1:…` */
  readonly url: string;
  close(): Promise<void>;
}

/** Returns the reason why Redis over TLS cannot be tested here, or undefined. Many builds have no TLS. */
export async function findTlsObstacle(binary: string): Promise<string | undefined> {
  const hasOpenssl = await run('openssl', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasOpenssl) return 'openssl is not on the PATH';
  // A build with TLS complains of the missing file, a build without TLS of the unknown directive.
  const complaint = await run(binary, ['--port', '0', '--tls-port', '1', '--tls-cert-file', '/nowhere']).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
  return /directive|TLS support/i.test(complaint) ? `${binary} is built without TLS` : undefined;
}

/** Creates an authority, certificates from it, and a certificate from another authority. */
export async function makeCertificates(dir: string): Promise<Certificates> {
  const path = (name: string) => join(dir, name);
  const filesOf = (name: string) => ({ REDIS_CERT_FILE: path(`${name}.crt`), REDIS_KEY_FILE: path(`${name}.key`) });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const authority = async (name: string) => {
    const files = ['-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)];
    await run('openssl', ['req', '-x509', ...newKey, ...files, '-days', '2', '-subj', `/CN=${name}`]);
  };
  const issue = async (name: string, by: string, extension: string, days = '2') => {
    const request = ['-keyout', path(`${name}.key`), '-out', path(`${name}.csr`), '-subj', `/CN=${name}`];
    await run('openssl', ['req', ...newKey, ...request]);
    await writeFile(path(`${name}.ext`), extension);
    const signer = ['-CA', path(`${by}.crt`), '-CAkey', path(`${by}.key`), '-CAcreateserial'];
    const files = ['-in', path(`${name}.csr`), '-extfile', path(`${name}.ext`), '-out', path(`${name}.crt`)];
    await run('openssl', ['x509', '-req', ...files, ...signer, '-days', days]);
  };
  await Promise.all([authority('authority'), authority('other')]);
  await issue('server', 'authority', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth');
  await issue('client', 'authority', 'extendedKeyUsage=clientAuth');
  await issue('expired', 'authority', 'extendedKeyUsage=clientAuth', '-1');
  await issue('other-client', 'other', 'extendedKeyUsage=clientAuth');
  return {
    authority: path('authority.crt'),
    ...{ server: filesOf('server'), client: filesOf('client') },
    ...{ otherAuthority: filesOf('other-client'), expired: filesOf('expired') },
  };
}

/** Starts Redis without a port for plain connections, and waits until it answers the good client. */
export async function startTlsRedis(
  dir: string,
  binary: string,
  { authority, server, client }: Certificates,
  onSpawn: OnSpawn,
): Promise<TlsRedis> {
  const port = await findFreePort();
  const files = ['--tls-cert-file', server.REDIS_CERT_FILE, '--tls-key-file', server.REDIS_KEY_FILE];
  const args = [
    ...['--bind', '127.0.0.1', '--port', '0', '--tls-port', String(port), '--dir', dir, '--set-proc-title', 'no'],
    ...[...files, '--tls-ca-cert-file', authority, '--tls-auth-clients', 'yes'],
    ...['--appendonly', 'yes', '--appendfsync', 'no', '--save', '', '--maxmemory-policy', 'noeviction'],
  ];
  const redis = await spawnServer({ name: 'redis', binary, args, logFile: join(dir, 'redis.log'), onSpawn });
  const url = `rediss://127.0.0.1:${port}`;
  await untilAnswering({ REDIS_URL: url, REDIS_CA_FILE: authority, ...client }, redis);
  return { url, close: () => redis.end('SIGKILL') };
}

async function untilAnswering(config: RedisConfig, server: ServerProcess): Promise<void> {
  const redis = openRedis(config, failFastOptions());
  redis.on('error', () => undefined);
  const answers = async () => {
    if (!server.isRunning()) throw new Error(`redis-server ended: ${await server.readLogTail()}`);
    return redis.ping().then(Boolean, () => false);
  };
  try {
    await waitUntil(answers, { what: 'An answer of Redis over TLS', timeoutMs: 60_000 });
  } finally {
    redis.disconnect();
  }
}
