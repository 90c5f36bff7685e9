import { floodFromAddresses } from '../../support/address-flood.ts';
import { describeFlood, inWords } from '../../support/describe-flood.ts';
import { floodLogins } from '../../support/login-flood.ts';
import { findMemoryCgroup } from '../../support/memory-cgroup.ts';
import { startTestServers } from '../../support/start-test-servers.ts';

/**
 * `npm run bench flood -- [logins] [rounds]`: logs in with `logins` clients at once (1,000) at one api process, in
 * `rounds` rounds (3). It prints the answers, the latency of the public keys and of refreshes before and during the
 * flood, and the memory of the process.
 *
 * The first flood has 256 MiB for hashes. The second flood has the same memory and asks for 64 concurrent hashes, of
 * which only as many run as fit into the memory. If this process may create memory cgroups (version 1), a third flood
 * runs in a cgroup of 512 MiB, half of which the api uses for hashes. Last, sixty connections from each of ten networks
 * replay a registration and log in for 20 s, and the program prints how logins from other networks fared. Clients, api,
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
