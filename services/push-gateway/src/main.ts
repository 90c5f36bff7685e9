import { runService } from '@auth-account/lifecycle';
import { compose } from './compose.ts';
import { pushGatewayConfig } from './config.ts';

await runService({
  name: 'push-gateway',
  schema: pushGatewayConfig,
  opsPort: (config) => config.PUSH_OPS_PORT,
  compose,
});
