export { ConfigError, type ConfigProblem } from './config-error.ts';
export { type ConfigRow, describeConfig } from './describe-config.ts';
export { type Config, hasVariable, loadConfig } from './load-config.ts';
export { longestTokenSeconds } from './longest-token-seconds.ts';
export type { ConfigSources } from './read-variable.ts';
export {
  deletionConfig,
  graceDaysLimits,
  listenConfig,
  logConfig,
  mongoConfig,
  proxyConfig,
  redisConfig,
  runtimeConfig,
  serverKeysConfig,
  shutdownConfig,
  tokenConfig,
  tokenLifeConfig,
} from './shared-config.ts';
export { SmtpSubscriber, SubscriberName, smtpServerOf } from './smtp-config.ts';
export type { CheckProblem } from './variable-schema.ts';
