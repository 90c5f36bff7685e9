import { registerAccount } from '../../../support/api/accounts.ts';
import { startTestStack, type TestStack } from '../../../support/processes/test-stack.ts';
import { type Percentiles, percentilesOf } from '../push/percentiles.ts';

/** Hashes may be cheap, because no measured time contains one. */
const settings = { ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1', LOG_LEVEL: 'warn', VALIDATE_RESPONSES: 'false' };

/** Starts the three services, warms them up with as many runs, and then measures the same. */
export async function measureEventLatency(count: number): Promise<Percentiles> {
  const stack = await startTestStack(settings);
  try {
    await registerOneByOne(stack, count);
    return percentilesOf(await registerOneByOne(stack, count));
  } finally {
    await stack.close();
  }
}

/** Returns the milliseconds from each registration's 201 to its event at a subscriber's webhook. */
async function registerOneByOne(stack: TestStack, count: number): Promise<number[]> {
  const latencies: number[] = [];
  while (latencies.length < count) {
    const { user_id } = await registerAccount(stack);
    const answeredAt = performance.now();
    latencies.push((await stack.receiver.waitFor(user_id)).at - answeredAt);
  }
  return latencies;
}
