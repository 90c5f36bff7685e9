import type { AuthEvent, NewDevice } from '../events.ts';

/** The event of a `message` frame; undefined for a frame that this version does not know. */
export function eventOf(frame: Readonly<Record<string, unknown>>): AuthEvent | undefined {
  const { type, id, topic, payload } = frame;
  if (type !== 'message' || typeof id !== 'string' || typeof topic !== 'string') return undefined;
  if (topic === 'security.new_device') return { type: 'new_device', id, device: payload as NewDevice };
  return { type: 'message', id, topic, payload };
}
