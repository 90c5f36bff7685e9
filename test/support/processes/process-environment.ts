/**
 * Returns the part of this process's environment that another process gets: where programs are found, and where
 * compiled code is kept.
 */
export function processEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  return { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS };
}
