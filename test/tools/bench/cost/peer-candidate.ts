import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { password } from '../../../support/api/accounts.ts';
import { processEnvironment } from '../../../support/processes/process-environment.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { uniqueName } from '../../../support/test-environment.ts';
import { peersDirectory } from '../peers/peer-installs.ts';
import { startServer } from '../push/server-process.ts';
import { makeHash } from './bare-hash.ts';
import type { Candidate } from './candidate.ts';
import { openHttpLane } from './http-lane.ts';
import { hashedOperations, type OperationName } from './operations.ts';
import { apiNode } from './own-candidate.ts';
import type { Peer, PeerSubject } from './peers.ts';

/** Starts the peer, whose packages must be installed, on its own database. */
export async function startPeerCandidate(peer: Peer, { mongo }: TestServers): Promise<Candidate> {
  const database = uniqueName();
  const server = await startServer({
    command: [apiNode, join(peersDirectory, peer.name, 'server.mjs')],
    env: {
      ...processEnvironment(),
      NODE_ENV: 'production',
      MONGODB_URI: mongo.uri,
      MONGODB_DATABASE: database,
      PASSWORD: password,
      PASSWORD_HASH: makeHash(),
      ...peer.env,
    },
    listening: /"listening":(\d+)/,
  });
  const lane = openHttpLane(server.port);
  const seed = (kind: 'accounts' | 'sessions', count: number): Promise<PeerSubject[]> =>
    lane.send({ path: `/seed/${kind}`, body: { count } });
  return {
    name: peer.name,
    pid: server.pid,
    offers: Object.keys(peer.offers) as OperationName[],
    async prepare(operation, count) {
      const subjects = operation === 'register' ? [] : await seed(seedOf(operation), seedCount(peer, operation, count));
      return async (index) => {
        const subject = subjects[index % subjects.length] ?? {};
        await lane.send(peer.request(operation, subject));
      };
    },
    async end() {
      lane.close();
      await server.end();
      const client = new MongoClient(mongo.uri);
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}

const seedOf = (operation: OperationName) => (hashedOperations.has(operation) ? 'accounts' : 'sessions');

/** Returns the number of accounts or sessions to seed, which is small if a session can serve repeatedly. */
function seedCount({ keepsToken }: Peer, operation: OperationName, count: number): number {
  const servesAgain = operation === 'session read' || (operation === 'refresh' && keepsToken === true);
  return servesAgain ? Math.min(count, 100) : count;
}
