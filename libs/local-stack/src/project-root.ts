import { fileURLToPath } from 'node:url';

/** The directory of the root package.json, without a slash at its end. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
