import { createPathStep } from './create-path-step.ts';
import { findAptObstacle } from './find-apt-obstacle.ts';
import { installPackages } from './install-packages.ts';
import type { ProvisionStep } from './provision-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';

/** `apt-get install redis-server`, without the daemon that the package would start on port 6379. */
export const redisAptStep: ProvisionStep = {
  title: 'apt-get install redis-server',
  async run(context) {
    const obstacle = await findAptObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    await installPackages(['redis-server'], context);
    return createPathStep(['redis-server'], REDIS_REQUIREMENT).run(context);
  },
};
