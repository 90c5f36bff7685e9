import { startTestServers } from '@auth-account/local-stack';
import { floodFromAddresses } from '../../support/address-flood.ts';
import { describeFlood, inWords } from '../../support/describe-flood.ts';
import { floodLogins } from '../../support/login-flood.ts';
import { findMemoryCgroup } from '../../support/memory-cgroup.ts';

/**
 * `npm run bench flood -- [logins] [rounds]`: that many clients (1,000 unless told otherwise) log in at once at one api
 * process, and when all were answered as many again, as often as that (3). It prints what they were answered, how long
 * the public keys and refreshes took before and meanwhile, and the memory of the process: with 256 MiB for hashes, with
 * 64 hashes at once asked for, of which as many are made as there is memory for, and, where this process may make memory
 * cgroups (version 1), in one of 512 MiB, half of which the api takes for its hashes. Then sixty connections of each of ten
 * addresses replay a registration and log in, for 20 s, and it prints what users elsewhere notice of it. Clients, api,
 * MongoDB and Redis share the machine.
 */
const [logins = 1_000, rounds = 3] = process.argv.slice(2).map(Number);
const limitMib = 512;

const runs = {
  'one for each core': { HASH_MEMORY_MIB: '256' },
  '64 asked for': { HASH_MEMORY_MIB: '256', HASH_CONCURRENCY: '64' },
};

const addressFlood = { addresses: 10, connections: 60, seconds: 20, warmUpMs: 5_000 };
let elsewhere = '';
const table: Record<string, Record<string, string>> = {};
const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
try {
  for (const [name, env] of Object.entries(runs)) {
    table[name] = describeFlood(await floodLogins({ logins, rounds, env }));
  }
  const cgroup = findMemoryCgroup(limitMib);
  if (cgroup !== undefined) {
    const row = describeFlood(await floodLogins({ logins, rounds, cgroup }));
    table[`cgroup of ${limitMib} MiB`] = {
      ...row,
      'cgroup, MiB': `${cgroup.peak().toFixed(0)} at most, ${cgroup.kills()} killed`,
    };
    cgroup.remove();
  }
  const { victims, flood } = await floodFromAddresses(addressFlood);
  const right = victims.filter(({ status }) => status === 200);
  elsewhere =
    `${right.length} of ${victims.length} logins from elsewhere went through, ms: ${inWords(right)}; ` +
    `the flood was answered ${JSON.stringify(flood)}`;
} finally {
  await servers.stop();
}

const columns = Object.values(table);
const lines = [...new Set(columns.flatMap((column) => Object.keys(column)))];
const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
console.log(toLine([`${rounds} × ${logins} logins at once`, ...Object.keys(table)]));
console.log(toLine(['---', ...columns.map(() => '---')]));
for (const line of lines) console.log(toLine([line, ...columns.map((column) => column[line] ?? '')]));
console.log(`\n${addressFlood.connections} connections of each of ${addressFlood.addresses} addresses: ${elsewhere}`);
