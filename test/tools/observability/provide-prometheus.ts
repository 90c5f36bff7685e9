import {
  cacheDirOf,
  createPathStep,
  findAptObstacle,
  installPackages,
  type ProvideOptions,
  type ProvisionStep,
  type Requirement,
  runSteps,
} from '@auth-account/local-stack/provision';

/** The version that Debian 12 has. */
const REQUIREMENT: Requirement = { minimum: [2, 42] };

/** Installs Debian's package, which has both programs. Its daemon is not started. */
function createAptStep(program: string): ProvisionStep {
  return {
    title: 'apt-get install prometheus',
    async run(context) {
      const obstacle = await findAptObstacle(context.env);
      if (obstacle !== undefined) return { missing: obstacle };
      await installPackages(['prometheus'], context);
      return createPathStep([program], REQUIREMENT).run(context);
    },
  };
}

/** Returns the path of Prometheus, or of its tool for rules. Throws `ProvisionError`. */
export async function providePrometheusBinary(
  program: 'prometheus' | 'promtool',
  { log, env = process.env, signal }: ProvideOptions,
): Promise<string> {
  const advice =
    'Install Prometheus 2.42 or later (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus).';
  const steps = [createPathStep([program], REQUIREMENT), createAptStep(program)];
  const provided = await runSteps({ name: program, advice }, steps, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Both steps return a binary.');
  return provided.binary;
}
