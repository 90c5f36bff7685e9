// Loaded with `require` by Jest.
const { readFileSync } = require('node:fs');
const { chromiumAdvice, findChromium } = require('../client/find-chromium.ts');

/** Says once at the end of a run how many tests were skipped for want of a browser, and how to get one. */
module.exports = class SkippedBrowserTests {
  onRunComplete(_contexts, { testResults }) {
    if (findChromium() !== undefined) return;
    const skipped = testResults
      .filter(({ testFilePath }) => readFileSync(testFilePath, 'utf8').includes('hasChromium()'))
      .reduce((sum, { numPendingTests }) => sum + numPendingTests, 0);
    if (skipped > 0) process.stderr.write(`\nSkipped ${skipped} tests in a browser: ${chromiumAdvice}\n`);
  }
};
