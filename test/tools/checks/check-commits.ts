import { spawnSync } from 'node:child_process';

/**
 * `check-commits.ts BASE`: checks that the subject of each commit after BASE, except merges, has at most 72 characters.
 * The check is left out if there is no history, or none back to BASE.
 */
const [base = ''] = process.argv.slice(2);
const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' });

if (git('merge-base', '--is-ancestor', base, 'HEAD').status !== 0) {
  console.log(`LEFT OUT: the history here has no ${base}`);
} else {
  const commits = git('log', '--no-merges', '--format=%h %s', `${base}..HEAD`).stdout.split('\n');
  const long = commits.filter((commit) => commit.slice(commit.indexOf(' ') + 1).length > 72);
  for (const commit of long) console.error(`${commit}\n  the subject has more than 72 characters`);
  process.exitCode = long.length > 0 ? 1 : 0;
}
