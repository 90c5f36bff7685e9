import type { Logger } from '@auth-account/telemetry';
import { openFixture } from '../fixture.ts';
import type { Environment } from '../service-environment.ts';
import { patient, startApi } from './test-api.ts';

export type TokenFixture = Awaited<ReturnType<typeof openTokenFixture>>;

export type TokenApi = Awaited<ReturnType<TokenFixture['start']>>;

/**
 * Opens a fixture for any number of apis with one clock, which moves only when the test moves it. `mongodbUri`: a
 * separate MongoDB instead of the shared one, whose faults are the test's subject: the apis give up as in production.
 */
export async function openTokenFixture({ mongodbUri }: { readonly mongodbUri?: string } = {}) {
  const fixture = await openFixture({}, mongodbUri);
  let time = Date.now();
  const clock = {
    now: () => time,
    pass(ms: number) {
      time += ms;
    },
  };
  return {
    ...fixture,
    clock,
    async start(env: Environment = {}, logger?: Logger) {
      const waits = mongodbUri === undefined ? patient : {};
      const overrides = { now: clock.now, keyFileIntervalMs: 20, waits };
      const api = fixture.closing(await startApi({ ...fixture.env, ...env }, overrides, logger));
      return {
        ...api,
        /** Refreshes, with this `DPoP` header if it is given. */
        refresh: (refresh_token: string, DPoP?: string) => api.refreshTokens({ refresh_token }, DPoP ? { DPoP } : {}),
      };
    },
  };
}
