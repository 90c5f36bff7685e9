import { type Config, mongoConfig, runtimeConfig, urlProblems } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { mongoChecks } from '@auth-account/stores/mongo-checks';

/** Variables that `probe` reads from the environment; the command line overrides them. */
export const probeConfig = Type.Object({
  ...runtimeConfig,
  MONGODB_URI: Type.Optional(mongoConfig(mongoChecks).MONGODB_URI),
  PROBE_API_URL: Type.Optional(
    Type.String({ pattern: '^https?://', check: urlProblems, description: 'Base URL of the api, as apps use it' }),
  ),
  PROBE_PUSH_URL: Type.Optional(
    Type.String({
      pattern: '^wss?://',
      check: urlProblems,
      description: "Base URL of the push gateway, instead of the login's `push_stream_url`",
    }),
  ),
  PROBE_EMAIL_DOMAIN: Type.String({
    pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
    maxLength: 200,
    default: 'probe.invalid',
    description: 'Domain of the email addresses that the probe registers; nobody else uses it',
  }),
  PROBE_PASSWORD: Type.Optional(
    Type.String({ minLength: 1, secret: true, description: 'Password of the account that `--email` names' }),
  ),
  PROBE_MAIL_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      check: urlProblems,
      description:
        'With `--with-mail`: URL that lists the mails to `PROBE_EMAIL_DOMAIN` as JSON, `[{"to","subject","text"}]`',
    }),
  ),
  PROBE_MAIL_TOKEN: Type.Optional(
    Type.String({ minLength: 1, secret: true, description: 'Bearer token for `PROBE_MAIL_URL`' }),
  ),
  PROBE_OPS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9083,
    description: "Port of the probe's `/livez`, `/readyz`, `/metrics` with `--interval`",
  }),
});
export type ProbeConfig = Config<typeof probeConfig>;
