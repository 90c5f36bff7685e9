import { checkBinary, type Requirement } from './check-binary.ts';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionStep } from './provision-step.ts';

/** The step that looks for one of these programs on the PATH, in this order. */
export function createPathStep(names: readonly string[], requirement: Requirement): ProvisionStep {
  return {
    title: `${names.join(' or ')} on the PATH`,
    async run({ env }) {
      let missing = '';
      for (const name of names) {
        const binary = await findOnPath(name, env);
        if (binary === undefined) continue;
        const result = await checkBinary(binary, requirement);
        if (!('missing' in result)) return result;
        missing = result.missing;
      }
      return { missing };
    },
  };
}
