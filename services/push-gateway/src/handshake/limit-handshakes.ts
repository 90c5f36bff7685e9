import { AppError } from '@auth-account/errors';
import { loggedNetwork, networkOf, type PrefixLength } from '@auth-account/lifecycle';
import type { AuditSampler } from '@auth-account/telemetry';
import { route } from './audit-refusal.ts';

export interface LimitHandshakesDeps {
  /** Limit for the handshakes of one network in a window. */
  readonly limit: number;
  readonly sampler: Pick<AuditSampler, 'write'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Counts a handshake of that client. Throws `ERR-RATE-LIMITED` with `Retry-After` if its network has had too many. */
export type LimitHandshakes = (client: { readonly network: string | undefined; readonly requestId: string }) => void;

const windowMs = 60_000;
const subscriberPrefix: PrefixLength = { v4: 32, v6: 64 };

/**
 * Limit for the networks that are counted at once (some 10 MB). Above it, the network that was counted first is
 * forgotten.
 */
const maxNetworks = 100_000;

const event = 'limit.exceeded';
const reason = 'handshake_address';

/**
 * Limits handshakes. It applies before a token is verified and before Redis is asked. Each gateway counts for itself,
 * in windows of a minute, because a shared limit would cost each handshake a round trip.
 */
export function createLimitHandshakes({ limit, sampler, now }: LimitHandshakesDeps): LimitHandshakes {
  const counts = new Map<string, number>();
  let ends = 0;
  return ({ network, requestId }) => {
    const at = now();
    // The second condition is for a clock that was set back.
    if (at >= ends || at < ends - windowMs) {
      counts.clear();
      ends = at + windowMs;
    }
    const subscriber = networkOf(network, subscriberPrefix);
    const count = (counts.get(subscriber) ?? 0) + 1;
    if (count > limit) {
      const logged = loggedNetwork(network);
      const fields = { outcome: 'failure', event, reason, route, request_id: requestId, address: logged };
      sampler.write({ kind: `${event} ${reason}`, network: logged, fields });
      throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: (ends - at) / 1_000 });
    }
    if (count === 1 && counts.size >= maxNetworks) counts.delete(counts.keys().next().value ?? '');
    counts.set(subscriber, count);
  };
}
