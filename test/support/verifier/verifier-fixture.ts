import { isAppError } from '@auth-account/errors';
import { startRedis } from '@auth-account/local-stack';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { openRedis, redisKeys, workerOptions } from '@auth-account/redis';
import { createVerifier, type Verifier, type VerifierOptions, type VerifierReport } from '@auth-account/verifier';
import { redisRevocations } from '@auth-account/verifier/redis';
import type { Redis } from 'ioredis';
import { startTestApi, type TestApi } from '../api/test-api.ts';
import { openGuardedFolder } from '../processes/create-process-guard.ts';
import type { TestServices } from '../processes/test-services.ts';
import { eventually } from '../worker/worker-fixture.ts';
import { readDocumentedAcl } from './documented-acl.ts';

/** Issuer and audience of the api by default. */
export const issuer = 'https://auth.local';
export const audience = 'food-storage';

/** The refusal of a token that is revoked, or whose claims are of a former group. */
export const refused = 'IAD_JWT_ACCESS_INVALID';

interface JudgingVerifier extends Verifier {
  /** Returns `good`, or the code with which the token is refused. */
  verdict(token: string): Promise<string>;
  /** Waits until this is the verdict on the token. */
  until(token: string, wanted: string): Promise<void>;
}

export interface OpenedVerifier extends JudgingVerifier {
  readonly reports: VerifierReport[];
  /** Moves the verifier's clock on, but not the clock of its tokens. */
  pass(ms: number): void;
}

/**
 * An api with a Redis of its own, and resource servers that read its deny list as the user of docs/verifying.md, unless
 * they get another source.
 */
export interface VerifierFixture {
  readonly api: TestApi;
  /** Client with all rights, like the services. */
  readonly admin: Redis;
  readonly denyList: DenyList;
  /** URL of Redis for the resource server's user. */
  readonly internalServiceUrl: string;
  /** Marks the deny list as complete, as a worker does. */
  completeDenyList(): Promise<void>;
  openVerifier(options?: Partial<VerifierOptions>): OpenedVerifier;
  stopRedis(): Promise<void>;
  /** Starts Redis again, with its user, and waits until the api can write. The deny list is not complete then. */
  startRedis(): Promise<void>;
  close(): Promise<void>;
}

/** Key prefix in docs/verifying.md. */
export const keyPrefix = 'auth';
const password = 'secret';

export async function openVerifierFixture(
  env: Readonly<Record<string, string>> = {},
  overrides: Parameters<typeof startTestApi>[1] = {},
): Promise<VerifierFixture> {
  const { user, rightsFor } = readDocumentedAcl('verifying.md');
  const folder = await openGuardedFolder('verifier');
  const server = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
  const admin = openRedis({ REDIS_URL: server.url }, workerOptions()) as Redis;
  admin.on('error', () => undefined);
  const createUser = () => admin.call('ACL', 'SETUSER', user, ...rightsFor(password));
  await createUser();
  const denyList = createDenyList(admin, redisKeys(keyPrefix), denialLifetimeMs(600));
  const api = await startTestApi(
    { REDIS_URL: server.url, KEY_PREFIX: keyPrefix, ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', ...env },
    overrides,
  );
  const open = new Set<Verifier>();
  const internalServiceUrl = server.url.replace('://', `://${user}:${password}@`);

  async function completeDenyList(): Promise<void> {
    if (!(await (await denyList.beginRebuild()).complete())) throw new Error('the deny list was not completed');
  }
  await completeDenyList();

  return {
    api,
    admin,
    denyList,
    internalServiceUrl,
    completeDenyList,
    openVerifier(options = {}) {
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
      open.add(verifier);
      return {
        ...judging(verifier),
        reports,
        pass(ms) {
          passed += ms;
        },
      };
    },
    stopRedis: () => server.kill(),
    async startRedis() {
      await server.start();
      await eventually('Redis is back', async () => (await createUser().catch(() => undefined)) === 'OK');
    },
    async close() {
      for (const verifier of open) verifier.close();
      await api.close();
      admin.disconnect();
      await server.kill();
      await folder.close();
    },
  };
}

function judging(verifier: Verifier): JudgingVerifier {
  const verdict = (token: string) =>
    verifier.verify(token).then(
      () => 'good',
      (error) => (isAppError(error) ? error.code : Promise.reject(error)),
    );
  const until = (token: string, wanted: string) => eventually(wanted, async () => (await verdict(token)) === wanted);
  return { ...verifier, verdict, until };
}

/** Opens the verifier of a resource server of these services, which reads their deny list at this URL of Redis. */
export function openInternalService(
  { keyPrefix, api }: Pick<TestServices, 'keyPrefix' | 'api'>,
  REDIS_URL: string,
  options: Partial<VerifierOptions> = {},
): JudgingVerifier {
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
