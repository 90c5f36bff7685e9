import { isAppError } from '@auth-account/errors';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import { createVerifier, type Verifier, type VerifierOptions, type VerifierReport } from '@auth-account/verifier';
import { redisRevocations } from '@auth-account/verifier/redis';
import { startTestApi } from '../api/test-api.ts';
import { openParts } from '../closing.ts';
import { completeDenyList } from '../gateway/gateway-fixture.ts';
import type { TestServices } from '../processes/test-services.ts';
import type { Environment } from '../service-environment.ts';
import { eventually } from '../worker/worker-fixture.ts';
import { startDocumentedRedis } from './documented-acl.ts';

/** Issuer and audience of the api by default. */
export const issuer = 'https://auth.local';
export const audience = 'food-storage';

/** The refusal of a token that is revoked, or whose claims are of a former group. */
export const refused = 'IAD_JWT_ACCESS_INVALID';

/**
 * An api with a Redis of its own, and resource servers that read its deny list as the user of docs/verifying.md, unless
 * they get another source.
 */
export type VerifierFixture = Awaited<ReturnType<typeof openVerifierFixture>>;
export type OpenedVerifier = ReturnType<VerifierFixture['openVerifier']>;

/** Key prefix in docs/verifying.md. */
export const keyPrefix = 'auth';

export async function openVerifierFixture(env: Environment = {}, overrides?: Parameters<typeof startTestApi>[1]) {
  const { closing, closeAll } = openParts();
  const { server, admin, createUser, url: internalServiceUrl } = closing(await startDocumentedRedis('verifying.md'));
  const denyList = createDenyList(admin, redisKeys(keyPrefix), denialLifetimeMs(600));
  const api = closing(await startTestApi({ REDIS_URL: server.url, KEY_PREFIX: keyPrefix, ...env }, overrides));
  await completeDenyList(denyList);

  return {
    api,
    /** Client with all rights, like the services. */
    admin,
    denyList,
    /** URL of Redis for the resource server's user. */
    internalServiceUrl,
    /** Marks the deny list as complete, as a worker does. */
    completeDenyList: () => completeDenyList(denyList),
    openVerifier(options: Partial<VerifierOptions> = {}) {
      const reports: VerifierReport[] = [];
      let passed = 0;
      const verifier = createVerifier({
        issuer,
        audience,
        reachedAt: api.base,
        onReport: (report) => reports.push(report),
        elapsed: () => performance.now() + passed,
        ...options,
        revocations: options.revocations ?? redisRevocations({ REDIS_URL: internalServiceUrl, KEY_PREFIX: keyPrefix }),
      });
      closing({ close: async () => verifier.close() });
      return {
        ...judging(verifier),
        reports,
        /** Moves the verifier's clock on, but not the clock of its tokens. */
        pass(ms: number) {
          passed += ms;
        },
      };
    },
    stopRedis: () => server.kill(),
    /** Starts Redis again, with its user, and waits until the api can write. The deny list is not complete then. */
    async startRedis() {
      await server.start();
      await eventually('Redis is back', async () => (await createUser().catch(() => undefined)) === 'OK');
    },
    close: closeAll,
  };
}

function judging(verifier: Verifier) {
  /** Returns `good`, or the code with which the token is refused. */
  const verdict = (token: string): Promise<string> =>
    verifier.verify(token).then(
      () => 'good',
      (error) => (isAppError(error) ? error.code : Promise.reject(error)),
    );
  /** Waits until this is the verdict on the token. */
  const until = (token: string, wanted: string) => eventually(wanted, async () => (await verdict(token)) === wanted);
  return { ...verifier, verdict, until };
}

/** Opens the verifier of a resource server of these services, which reads their deny list at this URL of Redis. */
export function openInternalService(
  { keyPrefix, api }: Pick<TestServices, 'keyPrefix' | 'api'>,
  REDIS_URL: string,
  options: Partial<VerifierOptions> = {},
) {
  const revocations = redisRevocations({ REDIS_URL, KEY_PREFIX: keyPrefix });
  return judging(createVerifier({ issuer, audience, reachedAt: api.base, revocations, ...options }));
}

/** Claims of an access token that belongs to nobody. */
export const someClaims = {
  user_id: 'u',
  home_group_id: 'g',
  account_type: 'HOME',
  sid: 's',
  ver: 1,
  device_id: 'd',
} as const;
