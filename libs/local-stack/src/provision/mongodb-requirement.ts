import type { Requirement } from './check-binary.ts';

/** Nothing above MongoDB 6.0 is used. */
export const MONGODB_REQUIREMENT: Requirement = { minimum: [6, 0] };
