import type { AuthEvent } from '@auth-account/contracts/events';

/** Returns true if the event asks for a mail with a code that has expired. Nobody needs that mail any more. */
export function isExpired(event: AuthEvent, now: Date): boolean {
  return event.type === 'service.auth.events.code_requested' && Date.parse(event.data.expires_at) <= now.getTime();
}

/** Returns true if the event is sent until its subscriber acknowledges it, however old the event is. */
export function mustArrive({ type }: Pick<AuthEvent, 'type'>): boolean {
  return type === 'service.auth.events.deleted';
}
