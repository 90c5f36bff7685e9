import { proxyConfig, redisConfig, runtimeConfig, tokenConfig } from '@auth-account/config';
import { redisChecks } from '@auth-account/redis';
import { type Static, Type } from 'typebox';

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
  ALLOWED_ORIGINS: Type.Array(Type.String({ pattern: '^https?://[^/]+$' }), {
    default: [],
    description: 'Origins from which browsers may open streams, comma-separated; none: not checked',
  }),
  MAX_STREAMS_PER_GROUP: Type.Integer({
    minimum: 1,
    default: 1_000,
    description: 'Streams of one group on one gateway; one more is answered 429',
  }),
  RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 50,
    maximum: 4_000,
    default: 2_000,
    description: 'Milliseconds between two reads of what is new in the deny list',
  }),
  PUSH_IDLE_TIMEOUT_SECONDS: Type.Integer({
    minimum: 8,
    maximum: 960,
    default: 50,
    description: 'Seconds without any data from the client after which its stream ends; pings are sent before that',
  }),
  DRAIN_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 6,
    default: 5,
    description: 'Seconds over which the streams are closed at most when the gateway stops',
  }),
  DRAIN_RECONNECTS_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
    description: 'Apps per second that a stopping gateway sends to the others: what these can take in, all together',
  }),
});
export type PushGatewayConfig = Static<typeof pushGatewayConfig>;
