import { findFreePort } from '@auth-account/local-stack';

const ports = [
  ...['API_PORT', 'PUSH_PORT', 'CONSOLE_PORT', 'API_OPS_PORT', 'PUSH_OPS_PORT', 'WORKER_OPS_PORT', 'CONSOLE_OPS_PORT'],
  ...['LOCAL_MONGO_PORT', 'LOCAL_REDIS_PORT', 'LOCAL_SUBSCRIBER_PORT', 'LOCAL_STAFF_PORT'],
];

/** Returns the environment of an `npm run up` with its own ports and servers, and its data in `dataDir`. */
export async function upEnvironment(dataDir: string): Promise<NodeJS.ProcessEnv> {
  const { MONGODB_URI: _, REDIS_URL: __, ...rest } = process.env;
  const env: NodeJS.ProcessEnv = { ...rest, LOCAL_DATA_DIR: dataDir, NO_COLOR: '1' };
  for (const name of ports) env[name] = String(await findFreePort());
  return env;
}
