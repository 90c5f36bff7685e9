// Loaded with `require` by Jest and by Stryker, which puts its own environment around it: hence CommonJS.
const { TestEnvironment } = require('jest-environment-node');

/** Stryker sets it to the number of the mutant that is run, and to nothing for the first run of all tests. */
const mutantVariable = '__STRYKER_ACTIVE_MUTANT__';

/** The mutant that a test has failed with. Shared by the test files of a run: Jest loads this module once. */
let killed;

/** Runs no test after the first one that fails with a mutant: one is enough to kill it, and Jest alone can't stop within a file. */
const bailing = (Environment) =>
  class extends Environment {
    handleTestEvent({ name, test, describeBlock }) {
      const mutant = process.env[mutantVariable];
      if (mutant === undefined) return;
      if (name === 'test_fn_failure' || name === 'hook_failure') killed = mutant;
      if (killed !== mutant) return;
      if (name === 'run_describe_start') describeBlock.mode = 'skip';
      if (name === 'test_start') test.mode = 'skip';
    }
  };

module.exports = bailing(TestEnvironment);
Object.assign(module.exports, { bailing, mutantVariable });
