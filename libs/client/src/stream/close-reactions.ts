import { type CloseReaction, closeReactions, otherCloseReaction } from '../generated/close-reactions.ts';

/**
 * What the client does at the end of its stream. `renew`: a refresh asks the service what the end means, because a close
 * code alone ends no session. `stop`: another connection has the stream now, and would lose it again. `reconnect`: after
 * a pause, the gateway's own if it has named one.
 */
export type EndOfStream = 'renew' | 'stop' | 'reconnect';

export function reactionToClose(code: number): EndOfStream {
  return stepOf((closeReactions as Readonly<Record<number, CloseReaction>>)[code] ?? otherCloseReaction);
}

/** Exhaustive, as the reactions to errors are. */
function stepOf(reaction: CloseReaction): EndOfStream {
  switch (reaction) {
    case 'log_in':
    case 'refresh_and_reconnect':
      return 'renew';
    case 'none':
    case 'stop':
      return 'stop';
    default:
      reaction satisfies 'reconnect' | 'reconnect_after_notice' | 'app_error';
      return 'reconnect';
  }
}
