const maxRounds = 10;

/**
 * Repeats the round until a run leaves the counter unchanged, and returns that run's result. A machine that stalls can
 * make a service fall back in any single run.
 */
export async function untilUnchanged<T>(counter: () => Promise<number>, round: () => Promise<T>): Promise<T> {
  for (let rounds = 0; rounds < maxRounds; rounds += 1) {
    const before = await counter();
    const found = await round();
    if ((await counter()) === before) return found;
  }
  throw new Error(`the counter rose in each of ${maxRounds} rounds`);
}
