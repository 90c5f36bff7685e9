import { startTestServers } from '@auth-account/local-stack';
import { describeFlood, floodLogins } from '../support/login-flood.ts';

/**
 * `node test/bench/hash-flood.ts [logins] [rounds]`: that many clients (1,000 unless told otherwise) log in at once at one
 * api process, and when all were answered as many again, as often as that (3). It prints what they were answered, how long
 * the public keys and refreshes took before and meanwhile, and the memory of the process; first as it is configured by
 * default with 256 MiB for hashes, then with 64 hashes at once asked for, of which as many are made as there is memory
 * for. Clients, api, MongoDB and Redis share the machine.
 */
const [logins = 1_000, rounds = 3] = process.argv.slice(2).map(Number);

const runs = {
  'as many hashes as cores, 256 MiB': { HASH_MEMORY_MIB: '256' },
  '64 hashes asked for, 256 MiB': { HASH_MEMORY_MIB: '256', HASH_CONCURRENCY: '64', UV_THREADPOOL_SIZE: '68' },
};

const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
try {
  for (const [name, env] of Object.entries(runs)) {
    const flood = await floodLogins({ logins, rounds, env });
    console.log(`${name}\n${describeFlood(flood).replaceAll(/^/gm, '  ')}`);
  }
} finally {
  await servers.stop();
}
