import {
  cacheDirOf,
  createAptStep,
  createPathStep,
  type ProvideOptions,
  runSteps,
} from '@auth-account/local-stack/provision';

/** Returns the path of Prometheus, or of its tool for rules. Debian's package has both. Throws `ProvisionError`. */
export async function providePrometheusBinary(
  program: 'prometheus' | 'promtool',
  { log, env = process.env, signal }: ProvideOptions,
): Promise<string> {
  const advice =
    'Install Prometheus 2.42 or later (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus).';
  const onPath = createPathStep([program], { minimum: [2, 42] });
  const steps = [onPath, createAptStep('prometheus', onPath)];
  const provided = await runSteps({ name: program, advice }, steps, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Both steps return a binary.');
  return provided.binary;
}
