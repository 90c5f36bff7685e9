/** Milliseconds of each request, by target. */
export type Latencies<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/** Sends requests to the sides in turn, one at a time, so that other load of the machine affects all sides alike. */
export async function measureSideBySide<Name extends string>(
  sides: Readonly<Record<Name, () => Promise<unknown>>>,
  rounds: number,
): Promise<Latencies<Name>> {
  const names = Object.keys(sides) as Name[];
  const latencies = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const began = performance.now();
      await sides[name]();
      latencies[name].push(performance.now() - began);
    }
  }
  return latencies;
}
