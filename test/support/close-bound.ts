/**
 * Within so many milliseconds what must end has ended. The promise is 5 s (decisions, "Push stream"), and `npm run faults` and
 * `npm run test:long zombies` hold the services to it; here a machine that stands still for some seconds fails no test.
 */
export const closeBoundMs = 15_000;
