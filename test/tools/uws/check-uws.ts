import { findUpstreamReleases, type UpstreamRelease } from './upstream-releases.ts';

/**
 * `npm run check:uws` asks GitHub which release of uWebSockets.js has a binary for Node 24, and the fix for the fault
 * that the gateway works around (docs/adr/0004-upgrades-after-an-await.md). Exits with 0 even if GitHub cannot be
 * reached.
 */

const yes = (is: boolean) => (is ? 'yes' : 'no ');
const lineOf = ({ tag, hasFix, runsOnNode24 }: UpstreamRelease) =>
  `${tag.padEnd(10)} fix: ${yes(hasFix)}  Node 24: ${yes(runsOnNode24)}`;

try {
  const releases = await findUpstreamReleases();
  console.log(releases.map(lineOf).join('\n'));
  const first = releases.filter(({ hasFix, runsOnNode24 }) => hasFix && runsOnNode24).at(-1);
  console.log(
    first === undefined
      ? 'No release has both yet.'
      : `The first with both is ${first.tag}: docker build --target push-gateway --build-arg UWS_RELEASE=${first.tag} --build-arg UWS_SHA256=… …`,
  );
} catch (error) {
  const { message, cause } = error as Error;
  console.log(`LEFT OUT: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
  console.log(
    'Known without GitHub: the fix is in uWebSockets v20.79.0 of 7 July 2026, so not in uWebSockets.js v20.68.0',
  );
  console.log('of June 2026 or earlier. Node 24 has binaries since May 2025. On 20 July 2026 the newest was v20.69.0.');
}
