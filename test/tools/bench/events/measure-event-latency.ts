import { registerAccount } from '../../../support/accounts.ts';
import { startTestStack, type TestStack } from '../../../support/test-stack.ts';
import { type Percentiles, percentilesOf } from '../push/percentiles.ts';

/** Hashes may be cheap, because no measured time contains one. */
export const latencySettings = {
  ARGON2_MEMORY_KIB: '64',
  ARGON2_PASSES: '1',
  LOG_LEVEL: 'warn',
  VALIDATE_RESPONSES: 'false',
} as const;

/**
 * Measures the time from a registration's 201 to its event at a subscriber's webhook, for one registration after
 * another.
 */
export async function measureEventLatency(stack: TestStack, count: number): Promise<Percentiles> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const { user_id } = await registerAccount(stack);
    const answeredAt = performance.now();
    latencies.push((await stack.receiver.waitFor(user_id)).at - answeredAt);
  }
  return percentilesOf(latencies);
}

/** Starts the three services, warms them up with as many runs, and then measures the same. */
export async function measureEventsAlone(count: number): Promise<Percentiles> {
  const stack = await startTestStack(latencySettings);
  try {
    await measureEventLatency(stack, count);
    return await measureEventLatency(stack, count);
  } finally {
    await stack.close();
  }
}
