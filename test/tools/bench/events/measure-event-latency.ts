import { registerAccount } from '../../../support/accounts.ts';
import { startTestStack, type TestStack } from '../../../support/test-stack.ts';
import { type Percentiles, percentilesOf } from '../push/percentiles.ts';

/** Hashes are cheap: no measured time contains one. */
export const latencySettings = {
  ARGON2_MEMORY_KIB: '64',
  ARGON2_PASSES: '1',
  LOG_LEVEL: 'warn',
  VALIDATE_RESPONSES: 'false',
} as const;

/** Measures from the 201 of a registration to its event at the subscriber, a signed webhook; one after another. */
export async function measureEventLatency(stack: TestStack, count: number): Promise<Percentiles> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const { user_id } = await registerAccount(stack);
    const answeredAt = performance.now();
    latencies.push((await stack.receiver.waitFor(user_id)).at - answeredAt);
  }
  return percentilesOf(latencies);
}

/** Measures the same on three services that it starts; the first runs are for warm-up and don't count. */
export async function measureEventsAlone(count: number): Promise<Percentiles> {
  const stack = await startTestStack(latencySettings);
  try {
    await measureEventLatency(stack, count);
    return await measureEventLatency(stack, count);
  } finally {
    await stack.close();
  }
}
