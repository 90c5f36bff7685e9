/**
 * Milliseconds within which a test expects an end. The promise is 5 s (docs/push.md, "Close codes"), and
 * `npm run faults` and `npm run test:long zombies` hold the services to it. The bound here is longer, so that a machine
 * that stalls for some seconds fails no test.
 */
export const closeBoundMs = 15_000;
