import { checkBinary } from './check-binary.ts';
import { findAptObstacle, installPackages } from './install-packages.ts';
import { MONGODB_REQUIREMENT } from './mongodb-requirement.ts';
import type { ProvisionContext, StepResult } from './provision-step.ts';

/** Libraries that slim Debian and Ubuntu images lack, with their packages. The packages have the same names on both. */
const PACKAGE_OF_LIBRARY = { 'libcurl.so.4': 'libcurl4', 'libssl.so.3': 'libssl3', 'libcrypto.so.3': 'libssl3' };

/**
 * Runs a downloaded mongod. If the user is root on Debian or Ubuntu, a missing shared library is installed. Elsewhere
 * the message names the library and its package.
 */
export async function checkMongod(binary: string, context: ProvisionContext): Promise<StepResult> {
  const result = await checkBinary(binary, MONGODB_REQUIREMENT);
  if (!('missing' in result)) return result;
  const lacking = Object.entries(PACKAGE_OF_LIBRARY).find(([library]) => result.missing.includes(library));
  if (lacking === undefined) return result;
  const [library, packageName] = lacking;
  if ((await findAptObstacle(context.env)) !== undefined) {
    return { missing: `${result.missing}; Debian and Ubuntu have it in the package ${packageName}` };
  }
  context.log(`  mongod needs ${library}: apt-get install ${packageName}`);
  await installPackages([packageName], context);
  return checkBinary(binary, MONGODB_REQUIREMENT);
}
