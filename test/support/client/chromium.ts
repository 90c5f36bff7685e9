import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumAdvice, findChromium } from './find-chromium.ts';

const executablePath = findChromium();
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Returns true if this machine has a Chromium. Files of tests call it to skip those that need one, which
 * `test/support/jest/skipped-browser-tests.cjs` counts at the end of the run. Throws if `CI` is set, where nothing may
 * be skipped.
 */
export function hasChromium(): boolean {
  if (executablePath === undefined && process.env.CI)
    throw new Error(`No test in a browser can run: ${chromiumAdvice}`);
  return executablePath !== undefined;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? '', args, headless: true });
}

/** Adds an authenticator of Chromium that verifies its user by itself. */
export async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    ctap2Version: 'ctap2_1',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
    defaultBackupEligibility: true,
    defaultBackupState: true,
  } as const;
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
  return {
    credentials: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
}
