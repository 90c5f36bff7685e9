import type { PushContent, PushMessagePublisher } from '@auth-account/messaging';
import type { Logger } from '@auth-account/telemetry';

export interface NotifySessionsDeps {
  /** The publisher's connection must fail at once while Redis is away. */
  readonly push: Pick<PushMessagePublisher, 'toSession'>;
  readonly logger: Logger;
}

/** Sends a message to the open streams of these sessions. */
export type NotifySessions = (sessionIds: readonly string[], content: PushContent) => void;

/** Sends a message to apps. It returns at once and never fails, because a message is only a hint and may be lost. */
export function createNotifySessions({ push, logger }: NotifySessionsDeps): NotifySessions {
  return (sessionIds, content) => {
    Promise.all(sessionIds.map((sessionId) => push.toSession(sessionId, content))).catch((error: unknown) => {
      logger.warn({ err: error, topic: content.topic }, 'message to apps lost');
    });
  };
}
