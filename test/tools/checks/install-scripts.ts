/**
 * Packages with an install script, and the reason why it is not needed: the project's own start runs `npm ci
 * --ignore-scripts` (libs/local-stack/bin/install.mjs).
 */
export const installScripts: Readonly<Record<string, string>> = {
  '@parcel/watcher': 'builds from source if there is no binary; only `jest --watch` uses it',
  '@swc/core':
    'checks if its binary loads and fetches another form of it if it does not; the binaries are optional dependencies',
  argon2: 'builds from source if there is no binary; the package carries them, and the api prefers @node-rs/argon2',
  esbuild: 'checks its binary and makes it start without Node; the binary itself is an optional dependency',
  'msgpackr-extract': 'builds from source if there is no binary; msgpackr does without it',
  protobufjs: 'only warns of version ranges in the package.json that uses it',
};
