import type { Requirement } from './check-binary.ts';

/**
 * BullMQ recommends 6.2. That version also introduced `set-proc-title`, which a later start needs to recognise the
 * process.
 */
export const REDIS_REQUIREMENT: Requirement = { minimum: [6, 2] };
