import { findFreePort, type LocalService, runMigrations, startService } from '@auth-account/local-stack';
import { MongoClient } from 'mongodb';
import { send } from '../../support/http-client.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { uniqueName } from '../../support/test-environment.ts';

/** An api process as in production, with a separate database. */
export interface FloodedApi {
  readonly base: string;
  readonly database: string;
  readonly mongodbUri: string;
  /** Returns its resident memory in MiB. */
  memory(): Promise<number>;
  close(): Promise<void>;
}

const mib = 1_048_576;
const ignore = () => undefined;

/** Starts the api. */
export async function startFloodedApi(settings: Readonly<Record<string, string>>): Promise<FloodedApi> {
  const folder = await openGuardedFolder('flood');
  const database = uniqueName();
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...serviceEnvironment(database),
    VALIDATE_RESPONSES: 'false',
    API_PORT: String(port),
    API_OPS_PORT: String(opsPort),
    LOG_LEVEL: 'info',
    HASH_QUEUE_TIMEOUT_MS: undefined, // the default
    ...settings,
  };
  await runMigrations({ env, onLine: ignore, onSpawn: folder.watch });
  const api: LocalService = startService('api', { env, onLine: ignore, log: ignore, onSpawn: folder.watch });
  const mongodbUri = env.MONGODB_URI ?? '';
  await api.waitUntilReady(90_000);
  return {
    base: `http://127.0.0.1:${port}`,
    database,
    mongodbUri,
    async memory() {
      const { text } = await send(`http://127.0.0.1:${opsPort}`, { method: 'GET', path: '/metrics' });
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / mib;
    },
    async close() {
      await api.stop();
      const mongo = new MongoClient(mongodbUri);
      await mongo.db(database).dropDatabase();
      await mongo.close();
      await folder.close();
    },
  };
}
