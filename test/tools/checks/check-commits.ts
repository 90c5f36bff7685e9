import { spawnSync } from 'node:child_process';

/**
 * `check-commits.ts BASE`: checks that the subject of each commit after BASE has at most 72 characters, merges aside.
 * Left out where the history is missing, or does not reach back to BASE.
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
