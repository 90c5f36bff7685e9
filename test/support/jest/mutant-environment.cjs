// Loaded with `require` by Jest and by Stryker, which puts its own environment around it: hence CommonJS.
const { default: NativeEnvironment } = require('./native-environment.ts');
const { bailing, mutantVariable } = require('./bail-environment.cjs');

/** The environment of MutantRuntime. Stryker's code reads the active mutant only once, as it expects new modules. */
module.exports = class MutantEnvironment extends bailing(NativeEnvironment) {
  async setup() {
    await super.setup();
    if (globalThis.__stryker__ !== undefined) globalThis.__stryker__.activeMutant = process.env[mutantVariable];
  }
};
