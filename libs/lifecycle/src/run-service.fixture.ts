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
        { name: 'first', timeoutMs: 300, run: () => (config.MODE === 'hanging-step' ? sleep(60_000) : sleep(200)) },
        { name: 'second', timeoutMs: 300, run: () => logger.info('second step ran') },
      ],
    };
  },
});
