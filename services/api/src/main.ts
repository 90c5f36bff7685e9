import { runService } from '@auth-account/lifecycle';
import { compose } from './compose.ts';
import { apiConfig } from './config.ts';

await runService({ name: 'api', schema: apiConfig, opsPort: (config) => config.API_OPS_PORT, compose });
