/**
 * Seeds for fast-check, one a round: in the suite the same at each run, in the longer forms others every time. `MODEL_SEED` names
 * the first, as a failure prints it.
 */
export function newSeeds(isSuite = process.env.MODEL_SECONDS === undefined): () => { readonly seed: number } {
  const first = isSuite ? 1 : Math.floor(Math.random() * 2 ** 31);
  let next = Number(process.env.MODEL_SEED ?? first);
  return () => {
    next += 1;
    return { seed: next - 1 };
  };
}
