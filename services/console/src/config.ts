import {
  type CheckProblem,
  deletionConfig,
  mongoConfig,
  providerConfig,
  proxyConfig,
  redisConfig,
  runtimeConfig,
  serverKeysConfig,
  tokenLifeConfig,
  urlProblems,
} from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { redisChecks } from '@auth-account/redis';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { type ActionName, actionNames, roles } from './contract/roles.ts';

const ClaimValues = Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }));

/** The company's OpenID provider, and what its answers mean here. */
const signInConfig = {
  CONSOLE_PUBLIC_URL: Type.String({
    pattern: '^https?://[^\\s/?#@]+$',
    check: originProblems,
    description:
      'Origin of the page as the browsers of staff see it, such as `https://console.example.com`. Only one of this machine may have `http`',
  }),
  CONSOLE_ISSUER: Type.String({
    pattern: '^https?://[^\\s?#@]+$',
    check: issuerProblems,
    description: "Issuer of the company's OpenID provider. Only one of this machine may have `http`",
  }),
  CONSOLE_CLIENT_ID: Type.String({ minLength: 1, description: 'Id of the console at the provider' }),
  CONSOLE_CLIENT_SECRET: Type.Optional(
    Type.String({
      minLength: 1,
      secret: true,
      description:
        'Secret of the console at the provider, for `client_secret_basic`. Unset: PKCE alone protects a code',
    }),
  ),
  CONSOLE_SCOPES: Type.String({
    pattern: '^openid( \\S+)*$',
    default: 'openid profile',
    description: 'Scopes that are asked for; userinfo must then have the name and the roles',
  }),
  CONSOLE_ROLE_CLAIM: Type.String({
    minLength: 1,
    default: 'roles',
    description: 'Claim of userinfo with a role or a list of roles; a dot leads into an object: `realm_access.roles`',
  }),
  CONSOLE_ROLES: Type.Object(
    { viewer: ClaimValues, support: ClaimValues, operator: ClaimValues },
    {
      additionalProperties: false,
      check: roleProblems,
      description:
        'Values of the claim that give each role: `{"viewer":["staff"],"support":["helpdesk"],"operator":["on-call"]}`. The highest role counts; without one there is no entry',
    },
  ),
  CONSOLE_SECRETS: Type.Array(Type.String({ minLength: 32 }), {
    minItems: 1,
    secret: true,
    description: 'Secrets, each of at least 32 characters: the first seals sessions, all of them open sessions',
  }),
  CONSOLE_SESSION_SECONDS: Type.Integer({
    minimum: 60,
    maximum: 43_200,
    default: 3_600,
    description: "Seconds after which staff must sign in again, if the provider's access token lives as long",
  }),
  CONSOLE_RECHECK_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3_600,
    default: 60,
    description: 'Seconds after which the provider is asked again who the person is and with which role',
  }),
};

/** Configuration of the console: each property is an environment variable. */
export const consoleConfig = Type.Object({
  ...runtimeConfig,
  ...mongoConfig(mongoChecks),
  ...redisConfig(redisChecks),
  ...tokenLifeConfig,
  ...deletionConfig,
  ...proxyConfig,
  ...providerConfig,
  SERVER_KEYS_FILE: Type.Optional(serverKeysConfig.SERVER_KEYS_FILE),
  CONSOLE_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8082, description: 'Port of the console' }),
  CONSOLE_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9083,
    description: "Port of the console's `/livez`, `/readyz`, `/metrics`",
  }),
  ...signInConfig,
  CONSOLE_FOUR_EYES: Type.Array(Type.Enum(actionNames as [ActionName, ...ActionName[]], { type: 'string' }), {
    default: [],
    description: 'Actions to which a second person must consent',
  }),
  CONSOLE_LOOKUPS_PER_HOUR: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'Looks at personal data in an hour, for each member of staff',
  }),
  CONSOLE_ACTIONS_PER_HOUR: Type.Integer({
    minimum: 1,
    default: 60,
    description: 'Changes in an hour, for each member of staff',
  }),
  CONSOLE_TRACE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://\\S*\\{request_id\\}\\S*$',
      description: 'URL of the traces of a request, with `{request_id}` in it',
    }),
  ),
  CONSOLE_PROMETHEUS_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      check: urlProblems,
      description: 'URL of the Prometheus that the page of the system asks',
    }),
  ),
  CONSOLE_METRICS_URLS: Type.Array(Type.String({ pattern: '^https?://[^\\s?#]+$' }), {
    default: [],
    description: "URLs of the processes' `/metrics`, which are read without a Prometheus",
  }),
});
export type ConsoleConfig = Type.Static<typeof consoleConfig>;

function originProblems(value: unknown): CheckProblem[] {
  if (typeof value !== 'string') return [];
  if (URL.parse(value)?.origin !== value) return [{ path: '', message: 'must be an origin as browsers send it' }];
  return httpProblems(value);
}

const loopbackHosts: readonly unknown[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns true if an URL names this machine, where nobody reads along. */
export function isLoopback(url: string): boolean {
  return loopbackHosts.includes(URL.parse(url)?.hostname);
}

function issuerProblems(value: unknown): CheckProblem[] {
  if (typeof value !== 'string') return [];
  if (!URL.canParse(value)) return [{ path: '', message: 'must be a URL' }];
  return httpProblems(value);
}

function httpProblems(url: string): CheckProblem[] {
  return url.startsWith('http:') && !isLoopback(url) ? [{ path: '', message: 'must have https' }] : [];
}

function roleProblems(value: unknown): CheckProblem[] {
  const given = typeof value === 'object' && value !== null ? Object.keys(value) : roles;
  return given.length > 0 ? [] : [{ path: '', message: 'must name a role' }];
}
