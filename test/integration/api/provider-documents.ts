/**
 * Facts that Apple and Google publish: their metadata, and claims of their ID tokens, without what no relying party of our
 * kind reads. Apple's metadata has named the second issuer since June 2025, while tokens still carried the first one
 * (https://github.com/supabase/auth/pull/2055).
 */
export const providerDocuments = {
  apple: {
    source: 'https://appleid.apple.com/.well-known/openid-configuration',
    metadata: {
      issuers: ['https://appleid.apple.com', 'https://account.apple.com'],
      jwks_uri: 'https://appleid.apple.com/auth/keys',
      token_endpoint: 'https://appleid.apple.com/auth/token',
      revocation_endpoint: 'https://appleid.apple.com/auth/revoke',
      id_token_signing_alg_values_supported: ['RS256'],
    },
    clientId: 'com.example.pantry',
    // https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
    tokens: [
      {
        iss: 'https://appleid.apple.com',
        sub: '000792.d71059495fa24644b94e4a644e2e3b4a.0638',
        c_hash: 'sOQEniPF5EBkeGjJCjDewA',
        email: 'x7kz2w9qpd@privaterelay.appleid.com',
        email_verified: 'true',
        is_private_email: 'true',
        auth_time: 1_728_958_690,
        nonce_supported: true,
        real_user_status: 2,
      },
      {
        iss: 'https://account.apple.com',
        sub: '000792.d71059495fa24644b94e4a644e2e3b4a.0638',
        at_hash: 'sOQEniPF5EBkeGjJCjDewA',
        email: 'cook@icloud.com',
        email_verified: true,
        transfer_sub: '000317.c7d501c4f43c4a40ac3f79e122336fcf.0952',
        nonce_supported: true,
      },
    ],
  },
  google: {
    source: 'https://accounts.google.com/.well-known/openid-configuration',
    metadata: {
      issuers: ['https://accounts.google.com'],
      jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
      token_endpoint: 'https://oauth2.googleapis.com/token',
      revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
      id_token_signing_alg_values_supported: ['RS256'],
    },
    clientId: '1234987819200.apps.googleusercontent.com',
    // https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
    tokens: [
      {
        iss: 'https://accounts.google.com',
        azp: '1234987819200.apps.googleusercontent.com',
        sub: '10769150350006150715113082367',
        at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
        hd: 'pantry.example',
        email: 'cook@pantry.example',
        email_verified: 'true',
      },
      {
        iss: 'accounts.google.com',
        sub: '10769150350006150715113082367',
        email: 'cook@gmail.com',
        email_verified: true,
        name: 'Anna Cook',
        given_name: 'Anna',
        family_name: 'Cook',
        picture: 'https://lh3.googleusercontent.com/a/photo',
        locale: 'en',
      },
    ],
  },
  /** Members of each key of both key sets, which have two or three keys. */
  keyMembers: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
} as const;
