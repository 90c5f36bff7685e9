import { readFileSync } from 'node:fs';
import { startRedis } from '@auth-account/local-stack';
import { openRedis, workerOptions } from '@auth-account/redis';
import type { Redis } from 'ioredis';
import { openParts } from '../closing.ts';
import { openGuardedFolder } from '../processes/guarded-folder.ts';

/**
 * Reads the Redis user that a page of docs/ creates, if `KEY_PREFIX` is `auth`, from its only line with `ACL SETUSER`. So
 * a test uses exactly the documented rights.
 */
export function readDocumentedAcl(page: string) {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const [line, ...others] = text.match(/^ACL SETUSER .+$/gm) ?? [];
  if (line === undefined || others.length > 0) throw new Error(`docs/${page} must have one line of ACL SETUSER`);
  const [, , user = '', ...rights] = line.split(' ');
  if (!rights.includes('><password>')) throw new Error(`docs/${page}: the user has no password`);
  const [, more] = /on a Redis Cluster (?:also |add )?`(\+[^`]+)`/i.exec(text) ?? [];
  if (more === undefined) throw new Error(`docs/${page} names no rights for a Redis Cluster`);
  return {
    /** Name of the user in the page's line. */
    user,
    /** Rights that the page adds on a Redis Cluster. */
    clusterRights: more.split(' '),
    /** Returns the arguments that follow the user's name in `ACL SETUSER`, with this password filled in. */
    rightsFor: (password: string) => rights.map((right) => right.replace('<password>', password)),
  };
}

/** Starts a separate Redis with the user that the page creates. */
export async function startDocumentedRedis(page: string) {
  const { user, rightsFor } = readDocumentedAcl(page);
  const { closing, closeAll } = openParts();
  const folder = closing(await openGuardedFolder('documented-acl'));
  const server = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
  closing({ close: () => server.kill() });
  const admin = openRedis({ REDIS_URL: server.url }, workerOptions()) as Redis;
  admin.on('error', () => undefined);
  closing({ close: async () => admin.disconnect() });
  const createUser = () => admin.call('ACL', 'SETUSER', user, ...rightsFor('secret'));
  await createUser();
  return {
    server,
    /** Client with all rights, like the services. */
    admin,
    createUser,
    /** URL of Redis for the documented user. */
    url: server.url.replace('://', `://${user}:secret@`),
    close: closeAll,
  };
}
