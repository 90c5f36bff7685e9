import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type AccessTokenAlgorithm, accessTokenAlgorithms } from '@auth-account/verifier/access-token';
import type { KeyFiles } from '../keys/generate-keys.ts';
import { projectRoot } from '../project-root.ts';
import { staffClientId, staffRoles } from '../provider/start-staff-provider.ts';
import type { PortNeed } from './assert-ports-free.ts';
import { localVariables } from './local-variables.ts';

/** Ports of the services and of the stack's own servers. The services' defaults are those of their own schemas. */
const PORTS = {
  API_PORT: [8080, 'the API'],
  PUSH_PORT: [8081, 'the push streams'],
  CONSOLE_PORT: [8082, 'the console'],
  API_OPS_PORT: [9080, 'probes and metrics of the api'],
  PUSH_OPS_PORT: [9081, 'probes and metrics of the push-gateway'],
  WORKER_OPS_PORT: [9082, 'probes and metrics of the worker'],
  CONSOLE_OPS_PORT: [9083, 'probes and metrics of the console'],
  LOCAL_MONGO_PORT: [Number(localVariables.LOCAL_MONGO_PORT.default), "the stack's own MongoDB"],
  LOCAL_REDIS_PORT: [Number(localVariables.LOCAL_REDIS_PORT.default), "the stack's own Redis"],
  LOCAL_SUBSCRIBER_PORT: [
    Number(localVariables.LOCAL_SUBSCRIBER_PORT.default),
    "the playground and the stack's own event subscriber",
  ],
  LOCAL_STAFF_PORT: [Number(localVariables.LOCAL_STAFF_PORT.default), 'the provider at which staff sign in'],
} as const;

export type PortVariable = keyof typeof PORTS;

export interface Settings {
  readonly ports: Readonly<Record<PortVariable, number>>;
  /** Directory of all data that last from one start to the next. */
  readonly dataDir: string;
  /** `ACCESS_TOKEN_ALGORITHM`: the algorithm of a new signing key. */
  readonly algorithm: AccessTokenAlgorithm;
}

/** Reads the settings. Throws an error that lists every wrong port, or names the algorithm if that is wrong. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const names = Object.keys(PORTS) as PortVariable[];
  const ports = Object.fromEntries(names.map((name) => [name, Number(env[name] || PORTS[name][0])]));
  const wrong = names.filter((name) => !isPort(ports[name]));
  if (wrong.length > 0) throw new Error(wrong.map((name) => `${name}=${env[name]} is no port (1 to 65535)`).join('\n'));
  return {
    ports: ports as Record<PortVariable, number>,
    algorithm: readAlgorithm(env.ACCESS_TOKEN_ALGORITHM),
    dataDir: env.LOCAL_DATA_DIR || join(projectRoot, localVariables.LOCAL_DATA_DIR.default),
  };
}

/** Reads the algorithm itself, because the keys are made before a service reads its configuration. */
function readAlgorithm(value: string | undefined): AccessTokenAlgorithm {
  const algorithm = accessTokenAlgorithms.find((name) => name === (value || 'ES256'));
  if (algorithm !== undefined) return algorithm;
  throw new Error(`ACCESS_TOKEN_ALGORITHM=${value} is none of ${accessTokenAlgorithms.join(', ')}`);
}

function isPort(value: number | undefined): boolean {
  return Number.isInteger(value) && value !== undefined && value >= 1 && value <= 65_535;
}

/** Returns the ports that must be free before anything starts. */
export function portNeeds(settings: Settings, except: readonly PortVariable[]): PortNeed[] {
  return (Object.keys(PORTS) as PortVariable[])
    .filter((variable) => !except.includes(variable))
    .map((variable) => ({ variable, port: settings.ports[variable], purpose: PORTS[variable][1] }));
}

export interface Addresses {
  /** Undefined if the environment already names a server. */
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  /** Undefined if the environment already names subscribers. */
  readonly eventSubscribers: string | undefined;
  readonly identityProviders: string;
}

/** Returns the variables that the services need on this machine, without those that the caller has set. */
export function serviceDefaults(
  env: NodeJS.ProcessEnv,
  settings: Settings,
  addresses: Addresses,
  keys: KeyFiles,
): Record<string, string> {
  const { ports } = settings;
  const defaults: Record<string, string | undefined> = {
    BIND_ADDRESS: '127.0.0.1',
    MONGODB_URI: addresses.mongodbUri,
    REDIS_URL: addresses.redisUrl,
    EVENT_SUBSCRIBERS: addresses.eventSubscribers,
    IDENTITY_PROVIDERS: addresses.identityProviders,
    API_PORT: String(ports.API_PORT),
    PUSH_PORT: String(ports.PUSH_PORT),
    API_OPS_PORT: String(ports.API_OPS_PORT),
    PUSH_OPS_PORT: String(ports.PUSH_OPS_PORT),
    WORKER_OPS_PORT: String(ports.WORKER_OPS_PORT),
    ...consoleDefaults(ports),
    PUSH_PUBLIC_URL: `ws://127.0.0.1:${ports.PUSH_PORT}`,
    TOKEN_ISSUER: `http://127.0.0.1:${ports.API_PORT}`,
    ACCESS_TOKEN_KEYS_FILE: keys.accessToken,
    REFRESH_TOKEN_KEYS_FILE: keys.refreshToken,
    SERVER_KEYS_FILE: keys.server,
    // Pages with passkeys: the playground, and a page that Vite serves. Browsers have none for an IP address.
    WEBAUTHN_RP_ID: 'localhost',
    WEBAUTHN_ORIGINS: `http://localhost:${ports.LOCAL_SUBSCRIBER_PORT},http://localhost:5173`,
    // All requests here come from one IP address, so limits by network would end a demo or a benchmark. Limits by
    // account stay.
    REGISTER_LIMIT_PER_ADDRESS: '1000000',
    REFRESH_LIMIT_PER_ADDRESS: '1000000',
    INVITE_LIMIT_PER_ADDRESS: '1000000',
    CODE_LIMIT_PER_ADDRESS: '1000000',
    CODE_TRY_LIMIT_PER_ADDRESS: '1000000',
    LOGIN_LIMIT_PER_ADDRESS: '1000000',
    PASSKEY_LIMIT_PER_ADDRESS: '1000000',
    // Enough threads for one hash on each core, and four for everything else (docs/configuration.md).
    UV_THREADPOOL_SIZE: String(availableParallelism() + 4),
  };
  const unset = Object.entries(defaults).filter(([name]) => !env[name] && !env[`${name}_FILE`]);
  return Object.fromEntries(unset.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** The console's settings. Its sessions end with the stack. */
function consoleDefaults(ports: Settings['ports']): Record<string, string> {
  const processes = [ports.API_OPS_PORT, ports.PUSH_OPS_PORT, ports.WORKER_OPS_PORT];
  return {
    CONSOLE_PORT: String(ports.CONSOLE_PORT),
    CONSOLE_OPS_PORT: String(ports.CONSOLE_OPS_PORT),
    CONSOLE_PUBLIC_URL: `http://127.0.0.1:${ports.CONSOLE_PORT}`,
    CONSOLE_ISSUER: `http://127.0.0.1:${ports.LOCAL_STAFF_PORT}`,
    CONSOLE_CLIENT_ID: staffClientId,
    CONSOLE_ROLES: JSON.stringify(staffRoles),
    CONSOLE_SECRETS: randomBytes(32).toString('base64url'),
    CONSOLE_METRICS_URLS: processes.map((port) => `http://127.0.0.1:${port}/metrics`).join(','),
  };
}

const tracingVariables = [
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'],
  ...['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_SDK_DISABLED'],
];

/**
 * Returns the variables that make the services deliver their spans to the playground, or none if the caller already
 * traces.
 */
export function tracingDefaults(env: NodeJS.ProcessEnv, { ports }: Settings): Record<string, string> {
  if (tracingVariables.some((name) => env[name])) return {};
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${ports.LOCAL_SUBSCRIBER_PORT}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    // In milliseconds. It is short because people are watching.
    OTEL_BSP_SCHEDULE_DELAY: '150',
  };
}
