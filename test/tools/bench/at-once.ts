/** Runs the work `count` times, with that many at once and its number from 0 on. */
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
