import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionContext, ProvisionStep } from './provision-step.ts';
import { runCommand } from './run-command.ts';

const POLICY_FILE = '/usr/sbin/policy-rc.d';
/** A policy that answers "Action forbidden by policy" (see invoke-rc.d(8)). */
const POLICY = '#!/bin/sh\nexit 101\n';

/** Installs Debian packages without asking. Their daemons are started neither now nor at the next boot. Needs root. */
export async function installPackages(packages: readonly string[], context: ProvisionContext): Promise<void> {
  const options = { ...context, env: { ...context.env, DEBIAN_FRONTEND: 'noninteractive' } };
  await withoutDaemons(async () => {
    await runCommand('apt-get', ['update', '-qq'], options);
    await runCommand(
      'apt-get',
      ['install', '-qq', '-y', '--no-install-recommends', '-o', 'Dpkg::Use-Pty=0', ...packages],
      options,
    );
  });
  if (existsSync('/run/systemd/system')) await disableServices(packages, options);
}

async function disableServices(services: readonly string[], options: Parameters<typeof runCommand>[2]): Promise<void> {
  for (const service of services) {
    await runCommand('systemctl', ['disable', '--now', '--quiet', service], options).catch((error: Error) => {
      options.log(`  ${service} may start at the next boot: ${error.message}`);
    });
  }
}

async function withoutDaemons(work: () => Promise<void>): Promise<void> {
  // An existing policy stays as it is, because container images already have this one.
  if (existsSync(POLICY_FILE)) return work();
  const remove = () => rmSync(POLICY_FILE, { force: true });
  writeFileSync(POLICY_FILE, POLICY, { mode: 0o755 });
  process.once('exit', remove);
  try {
    await work();
  } finally {
    remove();
    process.removeListener('exit', remove);
  }
}

/**
 * Returns the reason why nothing can be installed with apt-get here, or undefined for root on Debian, Ubuntu or a
 * derivative.
 */
export async function findAptObstacle(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'not a Linux';
  if (process.getuid?.() !== 0) return 'not root';
  if ((await findOnPath('apt-get', env)) === undefined) return 'no apt-get';
  const release = await readFile('/etc/os-release', 'utf8');
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(release) ? undefined : 'neither Debian nor Ubuntu';
}

/** Creates a step that installs the package, whose daemon is not started, and then takes `found`. */
export function createAptStep(packageName: string, found: ProvisionStep): ProvisionStep {
  return {
    title: `apt-get install ${packageName}`,
    async run(context) {
      const obstacle = await findAptObstacle(context.env);
      if (obstacle !== undefined) return { missing: obstacle };
      await installPackages([packageName], context);
      return found.run(context);
    },
  };
}
