import { existsSync } from 'node:fs';

// First Chromium without windows, for two thirds of the CPU time.
const candidates = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns the path of this machine's Chromium, or undefined if there is none. */
export const findChromium = (): string | undefined =>
  candidates.find((path) => path !== undefined && path !== '' && existsSync(path));

/** Advice for a person who has no Chromium. */
export const chromiumAdvice =
  'there is no Chromium here (Debian: apt-get install chromium-headless-shell; elsewhere CHROMIUM_PATH names a Chromium or Chrome)';
