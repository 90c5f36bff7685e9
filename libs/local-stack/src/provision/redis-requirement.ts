import type { Requirement } from './check-binary.ts';

/** BullMQ recommends 6.2; `set-proc-title`, by which a later start recognises the process, came with it too. */
export const REDIS_REQUIREMENT: Requirement = { minimum: [6, 2] };
