import type { Survivor } from './area-result.ts';

/** Reason why survivors live. It applies to those of the file with these texts, wherever they have moved. */
export interface Explanation {
  readonly file: string;
  readonly why: string;
  /** The line in which each begins, the original and the replacement, as the page shows them. */
  readonly mutants: readonly (readonly [line: string, from: string, to: string])[];
}

/** Returns the reason for a survivor, undefined if there is none. */
export function findReason(survivor: Survivor, explanations: readonly Explanation[]): string | undefined {
  return explanations.find((explanation) => explains(explanation, survivor))?.why;
}

/** Returns explanations without a survivor, as lines to print. */
export function staleExplanations(survivors: readonly Survivor[], explanations: readonly Explanation[]): string[] {
  return explanations.flatMap(({ file, mutants, why }) =>
    mutants
      .filter((mutant) => !survivors.some((survivor) => explains({ file, why, mutants: [mutant] }, survivor)))
      .map(([line, from, to]) => `${file}: ${line}: ${from} → ${to}: is explained and did not survive`),
  );
}

function explains({ file, mutants }: Explanation, survivor: Survivor): boolean {
  const { in: line, from, to } = survivor;
  return file === survivor.file && mutants.some((each) => each[0] === line && each[1] === from && each[2] === to);
}
