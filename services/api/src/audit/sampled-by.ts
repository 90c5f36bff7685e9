import type { AuditEvent } from './events.ts';

/**
 * By what an event is sampled; undefined where every one of them is written, as somebody's account is at stake or a
 * limit bounds them: a `login.failed` is one of the tries that the limits let through.
 */
export function sampledBy(event: AuditEvent): 'network' | 'kind' | undefined {
  switch (event.event) {
    case 'limit.exceeded':
      return 'network';
    case 'refresh.expired':
      return event.reason === 'not_genuine' ? 'network' : undefined;
    case 'authorization.failed':
      // Every-day, from everywhere: apps that were asleep. By network they would fill the log, and the sampler.
      return event.reason === 'IAD_JWT_ACCESS_EXPIRED' ? 'kind' : 'network';
    default:
      return undefined;
  }
}
