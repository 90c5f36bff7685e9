import type { Survivor } from './area-result.ts';

/** Why survivors may live. It holds for those of the file whose texts are these, wherever they have moved. */
export interface Explanation {
  readonly file: string;
  readonly why: string;
  /** Of each the line that it begins in, what is replaced and by what, as the page shows them. */
  readonly mutants: readonly (readonly [line: string, from: string, to: string])[];
}

/** The reason for a survivor, undefined where none is given. */
export function findReason(survivor: Survivor, explanations: readonly Explanation[]): string | undefined {
  return explanations.find((explanation) => explains(explanation, survivor))?.why;
}

/** What is explained and not among the survivors, as lines to print. */
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
