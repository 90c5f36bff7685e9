import { originConfig, proxyConfig, redisConfig, runtimeConfig, tokenConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { redisChecks } from '@auth-account/redis';

/** Configuration of the push gateway: each property is an environment variable. */
export const pushGatewayConfig = Type.Object({
  ...runtimeConfig,
  ...redisConfig(redisChecks),
  ...tokenConfig,
  ...proxyConfig,
  PUSH_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8081, description: 'Port of the push streams' }),
  PUSH_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9081,
    description: "Port of the push gateway's `/livez`, `/readyz`, `/metrics`",
  }),
  ...originConfig,
  MAX_STREAMS: Type.Integer({
    minimum: 1,
    default: 100_000,
    description: 'Most streams on one gateway. The next one gets 503, and the gateway is not ready until one has ended',
  }),
  MAX_STREAMS_PER_GROUP: Type.Integer({
    minimum: 1,
    default: 1_000,
    description: 'Most streams of one group on one gateway. The next one gets 429',
  }),
  HANDSHAKE_LIMIT_PER_ADDRESS: Type.Integer({
    minimum: 1,
    default: 12_000,
    description:
      'Handshakes from one network (IPv4 /32, IPv6 /64) in a minute on one gateway. It is more than 10,000 phones behind one network need that reconnect at once',
  }),
  RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 50,
    maximum: 4_000,
    default: 2_000,
    description: 'Milliseconds between two reads of new deny-list entries',
  }),
  PUSH_IDLE_TIMEOUT_SECONDS: Type.Integer({
    minimum: 8,
    maximum: 956,
    default: 50,
    description: 'Seconds of silence after which a stream ends, up to seven later. Pings are sent before that',
  }),
  DRAIN_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 6,
    default: 5,
    description: 'Most seconds over which a stopping gateway closes its streams',
  }),
  DRAIN_RECONNECTS_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
    description:
      'Apps per second that a stopping gateway sends to the others. Set it to what the others can accept together',
  }),
});
export type PushGatewayConfig = Type.Static<typeof pushGatewayConfig>;
