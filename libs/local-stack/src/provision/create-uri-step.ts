import type { ProvisionStep } from './provision-step.ts';

/**
 * The step that takes a server which somebody else runs, named by an environment variable, or by the file that
 * `<variable>_FILE` names, as the services' configuration reads it.
 */
export function createUriStep(variable: string): ProvisionStep {
  return {
    title: `${variable} set`,
    async run({ env }) {
      return env[variable] || env[`${variable}_FILE`] ? { external: true } : { missing: '' };
    },
  };
}
