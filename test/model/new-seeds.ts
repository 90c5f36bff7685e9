/**
 * Creates seeds for fast-check, one a round: the same in every run of the suite, new ones in every run of the longer
 * forms. `MODEL_SEED` sets the first, as a failure prints it.
 */
export function newSeeds(isSuite = process.env.MODEL_SECONDS === undefined): () => { readonly seed: number } {
  const first = isSuite ? 1 : Math.floor(Math.random() * 2 ** 31);
  let next = Number(process.env.MODEL_SEED ?? first);
  return () => {
    next += 1;
    return { seed: next - 1 };
  };
}
