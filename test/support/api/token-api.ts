import type { Logger } from '@auth-account/telemetry';
import { openFixture } from '../fixture.ts';
import type { Answer } from '../http-client.ts';
import type { Environment } from '../service-environment.ts';
import { type RunningApi, startApi } from './test-api.ts';

export interface TokenApi extends RunningApi {
  /** Refreshes, with this `DPoP` header if it is given. */
  refresh(refreshToken: string, proof?: string): Promise<Answer>;
}

export type TokenFixture = Awaited<ReturnType<typeof openTokenFixture>>;

export interface TokenFixtureOptions {
  /** Milliseconds between two checks of a key file. */
  readonly keyFileIntervalMs?: number;
  /** A separate MongoDB instead of the shared one. */
  readonly mongodbUri?: string;
}

/** Opens a fixture for any number of apis with one clock, which moves only when the test moves it. */
export async function openTokenFixture({ keyFileIntervalMs = 20, mongodbUri }: TokenFixtureOptions = {}) {
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
    async start(env: Environment = {}, logger?: Logger): Promise<TokenApi> {
      const overrides = { now: clock.now, keyFileIntervalMs };
      const api = fixture.closing(await startApi({ ...fixture.env, ...env }, overrides, logger));
      return { ...api, refresh: (refresh_token, DPoP) => api.refreshTokens({ refresh_token }, DPoP ? { DPoP } : {}) };
    },
  };
}
