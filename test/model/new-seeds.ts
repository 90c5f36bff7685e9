/**
 * Creates seeds for fast-check, one a round. The suite has the same seeds in every run; the long form has new ones.
 * `MODEL_SEED` sets the first seed to the one that a failure printed.
 */
export function newSeeds(isSuite = process.env.MODEL_SECONDS === undefined): () => { readonly seed: number } {
  const first = isSuite ? 1 : Math.floor(Math.random() * 2 ** 31);
  let next = Number(process.env.MODEL_SEED ?? first);
  return () => {
    next += 1;
    return { seed: next - 1 };
  };
}
