/** Runs the work `count` times, `atOnce` runs at a time, and passes each run its index, from 0. */
export async function runAtOnce(
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
