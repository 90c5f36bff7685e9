import { RevocationsRequest, RevocationsResponse, revocationsExample } from '../revocations.ts';
import { enabledIf } from '../route.ts';
import { common, commonHeaders } from './shared.ts';

/** The feed from which internal services without access to Redis learn which sessions are denied. */
export const revocationRoutes = enabledIf('REVOCATION_FEED_SECRETS_FILE', {
  readRevocations: {
    operationId: 'readRevocations',
    tag: 'Keys',
    promises: 'login-and-tokens.md#revocations-over-http',
    client: null,
    summary: 'Learn which access tokens are revoked',
    description:
      'For services that verify access tokens and cannot reach Redis. Asked a few times a second, it returns what ' +
      'was denied since the cursor, as a signed statement that answers this one question. An answer may repeat what ' +
      'an earlier one had. Anything but a 200 with a good statement says nothing: the list is unknown then, not ' +
      'empty. The caller is an internal service with a secret of its own. Without such secrets the service has no ' +
      'feed: 404.',
    method: 'post',
    path: '/api/v1/revocations',
    auth: 'internalService',
    finality: 'none',
    headers: commonHeaders,
    body: RevocationsRequest,
    requests: {
      first: { summary: 'First question', value: { nonce: 'Zq3v1p8mXo2c7Jt5kW9rYA' } },
    },
    success: {
      status: 200,
      description: 'The denials since the cursor.',
      body: RevocationsResponse,
      example: revocationsExample,
    },
    errors: [...common, 'ERR-INVALID-CREDENTIALS', 'ERR-RATE-LIMITED'],
  },
});
