import { runService } from '@auth-account/lifecycle';
import { compose } from './compose.ts';
import { workerConfig } from './config.ts';

await runService({ name: 'worker', schema: workerConfig, opsPort: (config) => config.WORKER_OPS_PORT, compose });
