import { type Log, ProvisionError } from '@auth-account/local-stack';
import { cacheDirOf, createAptStep, createPathStep, runSteps } from '@auth-account/local-stack/provision';

/** Returns the path of Prometheus, or of its tool for rules. Debian's package has both. Throws `ProvisionError`. */
export async function providePrometheusBinary(program: 'prometheus' | 'promtool', log: Log): Promise<string> {
  const advice =
    'Install Prometheus 2.42 or later (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus).';
  const onPath = createPathStep([program], { minimum: [2, 42] });
  const steps = [onPath, createAptStep('prometheus', onPath)];
  const context = { log, env: process.env, cacheDir: cacheDirOf(process.env) };
  const provided = await runSteps({ name: program, advice }, steps, context);
  if (!('binary' in provided)) throw new Error('Both steps return a binary.');
  return provided.binary;
}

/** Returns the path of promtool. If it cannot be had here, says so after `without`, and returns undefined. */
export async function findPromtool(without: string): Promise<string | undefined> {
  try {
    return await providePrometheusBinary('promtool', () => undefined);
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    console.log(`${without}\n${error.message}`);
    return undefined;
  }
}
