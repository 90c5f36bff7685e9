import { newKeyConfig, providerConfig, SmtpSubscriber, tokenLifeConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';

const KeyFile = Type.String({ minLength: 1, description: 'Path of a JWKS' });

/** Variables of the services that the commands about keys read. */
export const keyConfig = Type.Object({
  ACCESS_TOKEN_KEYS_FILE: Type.Optional(KeyFile),
  REFRESH_TOKEN_KEYS_FILE: Type.Optional(KeyFile),
  SERVER_KEYS_FILE: Type.Optional(KeyFile),
  ...newKeyConfig,
  ...tokenLifeConfig,
  REFRESH_TOKEN_ABSOLUTE_SECONDS: Type.Integer({ minimum: 60, default: 180 * 86_400 }),
});
export type KeyConfig = Type.Static<typeof keyConfig>;

/** File to which the chart's pod also writes audit lines, because the output of `kubectl exec` is not collected. */
export const auditConfig = Type.Object({ AUTHCTL_AUDIT_FILE: Type.Optional(Type.String({ minLength: 1 })) });

/** The worker's variable that the command doctor reads. Doctor needs only the kind of other subscribers. */
export const subscriberConfig = Type.Object({
  EVENT_SUBSCRIBERS: Type.Array(Type.Union([SmtpSubscriber, Type.Object({ kind: Type.Enum(['webhook', 'queue']) })]), {
    secret: true,
    default: [],
  }),
});

/** The variable of the api and the worker that names identity providers. */
export const providerSettings = Type.Object(providerConfig);
