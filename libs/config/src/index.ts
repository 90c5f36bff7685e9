export { ConfigError, type ConfigProblem } from './config-error.ts';
export { type ConfigRow, describeConfig } from './describe-config.ts';
export { type Config, hasVariable, loadConfig } from './load-config.ts';
export { providerConfig } from './provider-config.ts';
export { type IdentityProvider, type ProviderExchange, readProviders } from './providers.ts';
export {
  bareEmail,
  deletionConfig,
  graceDaysLimits,
  logConfig,
  maxTokenSeconds,
  mongoConfig,
  newKeyConfig,
  originConfig,
  proxyConfig,
  redisConfig,
  runtimeConfig,
  serverKeysConfig,
  tokenConfig,
  tokenLifeConfig,
  versionConfig,
} from './shared-config.ts';
export { SmtpSubscriber, SubscriberName, senderDomain, smtpServerOf } from './smtp-config.ts';
export { urlProblems } from './url-check.ts';
export type { CheckProblem } from './variable-schema.ts';
