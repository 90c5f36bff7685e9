/**
 * A section of docs/configuration.md, with the variables whose names match. A variable belongs to the first section
 * that matches.
 */
export interface Topic {
  readonly title: string;
  readonly intro?: string;
  readonly names: RegExp;
}

export const topics: readonly Topic[] = [
  {
    title: 'Addresses and ports',
    intro: 'Port 0 takes a free port. The ops ports serve `/livez`, `/readyz` and `/metrics`: do not expose them.',
    names: /^(BIND_ADDRESS|.*_PORT|TRUST_PROXY_HOPS|PUSH_PUBLIC_URL|ALLOWED_ORIGINS|KEEP_ALIVE_SECONDS)$/,
  },
  { title: 'Logs, shutdown and upgrades', names: /^(LOG_|SHUTDOWN_|VERSION_)/ },
  { title: 'MongoDB', names: /^(MONGODB_|OUTBOX_)/ },
  {
    title: 'Redis',
    intro: 'Every service of one deployment, and each service that publishes to it, uses the same `KEY_PREFIX`.',
    names: /^(REDIS_|KEY_PREFIX$)/,
  },
  {
    title: 'Access tokens',
    intro:
      'The api and the push-gateway must agree on these, except `ACCESS_TOKEN_ALGORITHM`; the worker must agree on the lifetimes.',
    names: /^(ACCESS_TOKEN_|TOKEN_|REVOCATION_FEED_)/,
  },
  { title: 'Sessions and keys', names: /^(REFRESH_TOKEN_|REFRESH_RETRY|SERVER_KEYS)/ },
  {
    title: 'Passwords and hashes',
    intro:
      'What the hash costs and how it is kept from starving the rest: [ADR 0006](adr/0006-hash-threads-give-way.md).',
    names: /^(PASSWORD_BLOCKLIST|ARGON2_|HASH_)/,
  },
  {
    title: 'Passkeys',
    intro: 'On if `WEBAUTHN_RP_ID` is set: [passkeys](specification/sign-in.md#passkeys).',
    names: /^(WEBAUTHN_|APPLE_APP_IDS$|ANDROID_APPS$)/,
  },
  {
    title: 'Providers',
    intro: 'Apple, Google and others: [providers](specification/sign-in.md#providers).',
    names: /^IDENTITY_PROVIDERS$/,
  },
  {
    title: 'Rate limits',
    intro:
      'A request over a limit gets 429 `ERR-RATE-LIMITED`. How guessing is slowed down: [wrong passwords](specification/login-and-tokens.md#wrong-passwords).',
    names: /(_LIMIT_PER_|^LOGIN_)/,
  },
  { title: 'Deletion of accounts', names: /^(ACCOUNT_DELETION_|ERASURE_)/ },
  {
    title: 'Accounts, groups and requests',
    names:
      /^(MAX_GROUP_MEMBERS|REQUIRE_VERIFIED_EMAIL|EMAIL_CODE_LOGIN|REQUEST_ID_MODE|VALIDATE_RESPONSES|TOTP_ISSUER)$/,
  },
  { title: 'Push streams', names: /^(MAX_STREAMS|HANDSHAKE_|RECONCILE_|PUSH_|DRAIN_)/ },
  { title: 'Console', intro: 'For staff: [the console](console.md).', names: /^CONSOLE_/ },
  { title: 'Events and the worker', names: /^(EVENT_|DELIVERY_|MAIL_|RELAY_|DENY_LIST_)/ },
];
