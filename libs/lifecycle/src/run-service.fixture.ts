import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, runtimeConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { runService, type ServiceParts } from './run-service.ts';

/** A service for the tests of `runService`: MODE selects the fault. */
const schema = Type.Object({
  ...runtimeConfig,
  OPS_PORT: Type.Integer({ default: 0 }),
  MODE: Type.Enum(['well', 'hanging-step', 'failing-start', 'rejection', 'exception', 'wrong-config'], {
    default: 'well',
  }),
});

await runService({
  name: 'fixture',
  schema,
  opsPort: (config) => config.OPS_PORT,
  compose({ config, logger }): ServiceParts {
    if (config.MODE === 'wrong-config') {
      throw new ConfigError([{ name: 'KEYS', expected: 'keys', came: 'none', where: 'environment KEYS' }]);
    }
    return {
      readiness: [{ name: 'database', run: () => ({ ok: true }) }],
      async start() {
        if (config.MODE === 'failing-start') throw new Error('no database');
        if (config.MODE === 'rejection') void Promise.reject(new Error('nobody caught me'));
        if (config.MODE === 'exception') {
          setImmediate(() => {
            throw new Error('nobody caught me');
          });
        }
      },
      shutdown: [
        // What hangs is cut off soon. Any other step may take as long as a busy machine needs.
        config.MODE === 'hanging-step'
          ? { name: 'first', timeoutMs: 100, run: () => sleep(60_000) }
          : { name: 'first', timeoutMs: 60_000, run: () => sleep(50) },
        { name: 'second', timeoutMs: 60_000, run: () => logger.info('second step ran') },
      ],
    };
  },
});
