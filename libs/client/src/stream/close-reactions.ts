/**
 * What the client does when the gateway closes the stream. `renew`: the service is asked by a refresh what the end
 * means. `stop`: another connection has the stream now. `reconnect`: after a pause.
 */
export type CloseReaction = 'renew' | 'stop' | 'reconnect';

/** By close code (docs/push.md, "Close codes"). 4005 is no logout: a newer login on this device has taken over. */
const reactions: Readonly<Record<number, CloseReaction>> = {
  1000: 'renew',
  4001: 'renew',
  4002: 'renew',
  4003: 'stop',
  4004: 'renew',
  4005: 'stop',
};

export function reactionToClose(code: number): CloseReaction {
  return reactions[code] ?? 'reconnect';
}
