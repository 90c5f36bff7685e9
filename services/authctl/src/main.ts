#!/usr/bin/env node
import { runAuthctl } from './app.ts';

const { stdin, stdout, stderr } = process;
// The reader of the output may have closed the pipe (`authctl … | head`).
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
process.exitCode = await runAuthctl(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  isInteractive: stdin.isTTY === true && stderr.isTTY === true,
  hasProgress: stderr.isTTY === true,
  now: () => new Date(),
  localStack: new URL('../../../.data/up.json', import.meta.url),
});
