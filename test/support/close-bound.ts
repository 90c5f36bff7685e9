/**
 * Milliseconds within which everything that must end has ended. The promise is 5 s (docs/specification/push-stream.md,
 * "Closing"), and `npm run faults` and `npm run test:long zombies` hold the services to it. Here a machine that stalls
 * for some seconds must not fail a test.
 */
export const closeBoundMs = 15_000;
