/** Settings of passkeys for the apis of tests. */
export const passkeySettings = {
  WEBAUTHN_RP_ID: 'example.com',
  WEBAUTHN_ORIGINS: 'https://app.example.com,https://pantry.example.org',
  WEBAUTHN_RELATED_ORIGINS: 'https://pantry.example.org',
  APPLE_APP_IDS: 'A1B2C3D4E5.com.example.pantry',
  ANDROID_APPS: ['14', '15'].map((first) => `com.example.pantry=${first}${':6D'.repeat(31)}`).join(),
};

/** Settings of an api without passkeys. */
export const withoutPasskeys = Object.fromEntries(Object.keys(passkeySettings).map((name) => [name, '']));
