import { registerAccount } from '../../../support/api/accounts.ts';
import { startTestStack } from '../../../support/processes/test-stack.ts';
import { type Percentiles, percentilesOf } from '../report/figures.ts';

const count = 200;

/** Measures the times from a registration's 201 to its event at a subscriber's webhook, after as many for a warm-up. */
export async function measureEvents(): Promise<Percentiles> {
  const stack = await startTestStack({ LOG_LEVEL: 'warn', VALIDATE_RESPONSES: 'false' });
  try {
    const latencies: number[] = [];
    while (latencies.length < 2 * count) {
      const { user_id } = await registerAccount(stack);
      const answeredAt = performance.now();
      latencies.push((await stack.receiver.waitFor(user_id)).at - answeredAt);
    }
    return percentilesOf(latencies.slice(count));
  } finally {
    await stack.close();
  }
}
