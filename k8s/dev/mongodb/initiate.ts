import { lookup } from 'node:dns/promises';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type Db, MongoClient, MongoServerError } from 'mongodb';

/**
 * Runs beside each member of the development cluster's MongoDB: initiates the replica set on its first member, adds the
 * others, and gives the users the passwords of the Secret. Then it stays, and mends what is no longer so.
 */
const [podName = '', namespace = '', size = '1'] = process.argv.slice(2);
const SECRETS = '/run/secrets/mongodb';
const READY = '/tmp/ready';
const INTERVAL_MS = 1_000;
const SETTLED_INTERVAL_MS = 10_000;
const AUTHENTICATION_FAILED = 18;
const USER_EXISTS = 51003;
const NOT_IN_CONFIG = 93;

const service = podName.replace(/-\d+$/, '');
const hosts = Array.from(
  { length: Number(size) },
  (_, index) => `${service}-${index}.${service}.${namespace}.svc:27017`,
);
let hasUsers = false;

process.once('SIGTERM', () => process.exit(0));
await rm(READY, { force: true });
for (let isSettled = false; ; await setTimeout(isSettled ? SETTLED_INTERVAL_MS : INTERVAL_MS)) {
  isSettled = await settle().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    return false;
  });
  if (isSettled) await writeFile(READY, '');
}

/** One look at the member; true when it belongs to the replica set and there is nothing left to do for it. */
async function settle(): Promise<boolean> {
  try {
    const auth = { username: 'root', password: await readPassword('root') };
    return await withAdmin({ auth, authSource: 'admin' }, complete);
  } catch (error) {
    if (!hasCode(error, AUTHENTICATION_FAILED)) throw error;
    return withAdmin({}, initiate);
  }
}

async function complete(admin: Db): Promise<boolean> {
  const { isWritablePrimary, secondary, isreplicaset } = await admin.command({ hello: 1 });
  if (isreplicaset === true && (await isLost(admin))) await startAgain(admin);
  if (!isWritablePrimary) return secondary === true;
  const roles = ['readWrite', 'dbAdmin'].map((role) => ({ role, db: 'auth' }));
  if (!hasUsers) await setUser(admin, 'auth', roles);
  hasUsers = true;
  return addMember(admin);
}

/** True if the configuration has this member, which yet did not find itself in it. While mongod starts it is not known. */
async function isLost(admin: Db): Promise<boolean> {
  const isAbsent = await admin.command({ replSetGetStatus: 1 }).then(
    () => false,
    (error: unknown) => hasCode(error, NOT_IN_CONFIG),
  );
  if (!isAbsent) return false;
  const { config } = await admin.command({ replSetGetConfig: 1 });
  return config.members.some(({ host }: { host: string }) => host.startsWith(`${podName}.`));
}

/**
 * A member whose own name did not resolve when it started, because DNS still knew that nobody had it, is REMOVED and never
 * looks again, not for a forced reconfiguration either. It finds itself at its next start: the kubelet starts what has ended.
 */
async function startAgain(admin: Db): Promise<void> {
  await lookup(`${podName}.${service}.${namespace}.svc`);
  process.stderr.write('mongod did not find itself in the configuration: ending it, so that it starts again\n');
  await admin.command({ shutdown: 1, force: true });
}

/** MongoDB takes one new voting member at a time. True when there is none to add. */
async function addMember(admin: Db): Promise<boolean> {
  const { config } = await admin.command({ replSetGetConfig: 1 });
  const present = config.members.map((member: { host: string }) => member.host);
  const missing = hosts.findIndex((host) => !present.includes(host));
  if (missing === -1) return true;
  const members = [...config.members, { _id: missing, host: hosts[missing] }];
  await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members } });
  return false;
}

/** Does what MongoDB allows at its own address until there is a user: begins the replica set, and makes one user. */
async function initiate(admin: Db): Promise<boolean> {
  if (podName !== `${service}-0`) return false;
  const { isWritablePrimary, setName } = await admin.command({ hello: 1 });
  if (setName === undefined) {
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: hosts[0] }] } });
  } else if (isWritablePrimary) {
    await setUser(admin, 'root', ['root']);
  }
  return false;
}

async function setUser(admin: Db, user: string, roles: readonly unknown[]): Promise<void> {
  const pwd = await readPassword(user);
  try {
    await admin.command({ createUser: user, pwd, roles });
  } catch (error) {
    if (!hasCode(error, USER_EXISTS)) throw error;
    await admin.command({ updateUser: user, pwd, roles });
  }
}

async function readPassword(user: string): Promise<string> {
  return (await readFile(`${SECRETS}/${user}-password`, 'utf8')).trim();
}

async function withAdmin(login: object, work: (admin: Db) => Promise<boolean>): Promise<boolean> {
  const options = { ...login, directConnection: true, serverSelectionTimeoutMS: 5_000 };
  const client = new MongoClient('mongodb://127.0.0.1:27017', options);
  try {
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
