import { runService } from '@auth-account/lifecycle';
import { compose } from './compose.ts';
import { consoleConfig } from './config.ts';

await runService({ name: 'console', schema: consoleConfig, opsPort: (config) => config.CONSOLE_OPS_PORT, compose });
