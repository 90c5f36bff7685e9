/** Sources to mutate, and the test files that run against each of the mutants. */
export interface Part {
  /** The sources as one pattern, which also names the part in results.json. */
  readonly sources: string;
  readonly tests: readonly string[];
}

/** Sources with a common score. */
export interface Area {
  readonly name: string;
  /** The score in percent that the area must reach. */
  readonly aim: number;
  /** A description of the sources, for docs/mutation.md. */
  readonly covers: string;
  readonly parts: readonly Part[];
}

/** The use cases of any feature. */
export const useCases = 'services/api/src/usecases/*';

export const ofLimits = 'services/api/src/limits';

/** Creates an area. Each of its parts is a pattern of sources, followed by those of the tests. */
export function area(
  name: string,
  aim: number,
  covers: string,
  ...parts: readonly (readonly [sources: string, ...tests: string[]])[]
): Area {
  return { name, aim, covers, parts: parts.map(([sources, ...tests]) => ({ sources, tests })) };
}

/** An area, with those of its parts that are to be measured, by their number. */
export type Choice = ReturnType<typeof chooseParts>[number];

/** Returns the areas and parts that `only` names, such as `tokens,providers:4`. Throws if there is no such part. */
export function chooseParts(areas: readonly Area[], only: string) {
  return only.split(',').map((choice) => {
    const [name, number] = choice.split(':');
    const chosen = areas.find((each) => each.name === name);
    if (chosen === undefined) throw new Error(`There is no area ${name}: ${areas.map((each) => each.name).join(', ')}`);
    const all = chosen.parts.map((part, index) => [index + 1, part] as const);
    const parts = all.filter(([each]) => number === undefined || number === String(each));
    if (parts.length === 0) throw new Error(`There is no part ${choice}: ${name} has ${all.length}`);
    return { area: chosen, parts: new Map(parts) };
  });
}
